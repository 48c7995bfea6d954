package surface

// #include "unlike.h"
import "C"

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Sound is a class of letters that languages and scripts write for one another: p and b, k, g and q. A text is a
// sequence of them, with a mark before each word.
type Sound uint8

// The classes, as many as UNLIKE_SOUNDS. A wordStart stands before a word, a syllableStart where a word may begin in a
// script without spaces.
const (
	wordStart Sound = iota
	syllableStart
	soundP
	soundF
	soundW
	soundT
	soundS
	soundC // Latin c and ch: s or k
	soundK
	soundH
	soundJ // Latin j: an i, or as in Jean, Juan
	soundM
	soundN
	soundL
	soundR
	soundI
	soundE
	soundA
	soundO
	soundU
	soundCount
)

var _ = [1]bool{}[soundCount-C.UNLIKE_SOUNDS]

// isVowel says of a class whether scripts may leave it out.
func (s Sound) isVowel() bool { return s >= soundI }

// soundLetters are the classes as the tables of this package write them.
const soundLetters = " .PFWTSCKHJMNLRIEAOU"

// AppendSounds appends the sounds of the words of a text, which is Plain's. Equal neighbours are one: double letters,
// and dt or ck.
func AppendSounds(to []Sound, text string) []Sound {
	inside := false
	for i := 0; i < len(text); {
		r, width := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, width = utf8.DecodeRuneInString(text[i:])
		}
		if !soundsIn(r) {
			if inside && !joins(r) {
				inside = false
			}
			i += width
			continue
		}
		if !inside {
			to = append(to, wordStart)
		}
		inside = true
		if r < utf8.RuneSelf || unicode.Is(unicode.Latin, r) {
			to = latinSound(to, text, i, width)
		} else {
			to = scriptSound(to, r)
		}
		i += width
	}
	return to
}

// joins says whether a rune is part of a word without a sound: an apostrophe or an accent.
func joins(r rune) bool {
	return r == '\'' || r == '’' || r >= utf8.RuneSelf && unicode.Is(unicode.M, r)
}

// soundsIn says whether a rune has a sound.
func soundsIn(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if 0xAC00 <= r && r <= 0xD7A3 {
		return true
	}
	if _, ok := scriptSounds[r]; ok {
		return true
	}
	return unicode.Is(unicode.Latin, r) || unicode.Is(unicode.Cyrillic, r) || unicode.Is(unicode.Greek, r)
}

// push appends a class unless it is the last one.
func push(to []Sound, sounds ...Sound) []Sound {
	for _, s := range sounds {
		if len(to) == 0 || to[len(to)-1] != s {
			to = append(to, s)
		}
	}
	return to
}

// latinSound appends the sound of the Latin letter at a byte, which depends on its neighbours.
func latinSound(to []Sound, text string, at, width int) []Sound {
	r := Fold(text[at : at+width])
	next := byte(0)
	if at+width < len(text) {
		next = text[at+width] | 0x20 // ASCII letters become lower case
	}
	switch {
	case r == 'h':
		if last := to[len(to)-1]; last != wordStart && !last.isVowel() {
			return to // ch, kh, th
		}
	case r == 'p' && next == 'h':
		return push(to, soundF)
	case r == 'c' && (next == 'e' || next == 'i' || next == 'y' || next == 'z'), r == 's' && next == 'c':
		return push(to, soundS)
	case r == 'o' && next == 'u':
		return to // French writes u so
	case r == 'x':
		return push(to, soundK, soundS)
	case r < utf8.RuneSelf:
	default:
		if s, ok := latinLetters[r]; ok {
			return push(to, s)
		}
		return to
	}
	if 'a' <= r && r <= 'z' {
		return push(to, asciiSounds[r-'a'])
	}
	return to
}

// asciiSounds are the classes of a to z.
var asciiSounds = func() (sounds [26]Sound) {
	for i, letter := range []byte("APCTEFKHIJKLMNOPKRSTUFWSIS") {
		sounds[i] = Sound(strings.IndexByte(soundLetters, letter))
	}
	return sounds
}()

var latinLetters = map[rune]Sound{
	'ł': soundL, 'ø': soundO, 'đ': soundT, 'ð': soundT, 'þ': soundT, 'ı': soundI, 'æ': soundE, 'œ': soundE, 'ß': soundS, 'ə': soundE, 'ħ': soundH,
}

// scriptSound appends the sounds of a rune of another script.
func scriptSound(to []Sound, r rune) []Sound {
	if 0xAC00 <= r && r <= 0xD7A3 {
		return hangulSound(to, r)
	}
	sounds, ok := scriptSounds[r]
	if !ok {
		if sounds, ok = scriptSounds[Fold(string(r))]; !ok {
			return to
		}
	}
	for _, s := range sounds {
		switch {
		case s == dropVowel: // a small kana or a sign takes the place of the syllable's vowel
			if last := len(to) - 1; to[last].isVowel() {
				to = to[:last]
			}
		case s == dropSound:
			if last := len(to) - 1; to[last] > syllableStart {
				to = to[:last]
			}
		case s == syllableStart && to[len(to)-1] <= syllableStart:
		default:
			to = push(to, s)
		}
	}
	return to
}

// hangulSound appends the sounds of a Korean syllable, which Unicode composes of up to three letters.
func hangulSound(to []Sound, r rune) []Sound {
	const vowels, finals = 21, 28
	n := int(r - 0xAC00)
	for _, sounds := range [][]Sound{hangulInitials[n/(vowels*finals)], hangulVowels[n/finals%vowels], hangulFinals[n%finals]} {
		to = push(to, sounds...)
	}
	return to
}

// Signs in the tables below: the vowel before is left out, the sound before is left out.
const (
	dropVowel = soundCount + iota
	dropSound
)

// parseSounds reads classes as soundLetters writes them, "-" for dropVowel and "^" for dropSound.
func parseSounds(written string) (sounds []Sound) {
	for _, letter := range []byte(written) {
		switch letter {
		case '-':
			sounds = append(sounds, dropVowel)
		case '^':
			sounds = append(sounds, dropSound)
		default:
			sounds = append(sounds, Sound(strings.IndexByte(soundLetters, letter)))
		}
	}
	return sounds
}

// scripts list letters with their classes: a letter, then what it sounds like.
var scripts = []string{
	// Cyrillic
	"аA бP вF гK ґK дT еE ёIO єIE жS зS иI іI їI йI кK лL мM нN оO пP рR сS тT уU ўU фF хH цS чC шS щS ъ ьI ыI эE юIU яIA џS љL њN ђS ћS",
	// Greek
	"αA βF γK δT εE ζS ηI θT ιI κK λL μM νN ξKS οO πP ρR σS ςS τT υI φF χH ψPS ωO",
	// Arabic and Persian; short vowels are not written
	"اA أA إI آA ىA ةA بP پP تT ثT جJ چC حH خH دT ذT رR زS ژS سS شS صS ضT طT ظS عA غK فF ڤF قK كK کK گK لL مM نN هH وW يI یI ئI ؤU",
	// Hebrew
	"אA בP גK דT הH וW זS חH טT יI כK ךK לL מM םM נN ןN סS עA פP ףF צS ץS קK רR שS תT",
	// Katakana; hiragana writes no names
	"アA イI ウU エE オO カKA キKI クKU ケKE コKO ガKA ギKI グKU ゲKE ゴKO サSA シSI スSU セSE ソSO ザSA ジJI ズSU ゼSE ゾSO",
	"タTA チCI ツSU テTE トTO ダTA ヂJI ヅSU デTE ドTO ナNA ニNI ヌNU ネNE ノNO ハHA ヒHI フFU ヘHE ホHO バPA ビPI ブPU ベPE ボPO",
	"パPA ピPI プPU ペPE ポPO マMA ミMI ムMU メME モMO ヤIA ユIU ヨIO ラRA リRI ルRU レRE ロRO ワWA ヲO ンN ヴFU ァ-A ィ-I ゥ-U ェ-E ォ-O ャ-IA ュ-IU ョ-IO ー ッ",
	// Thai; a consonant may begin a word
	"ก.K ข.K ค.K ฆ.K งN จ.J ฉ.C ช.C ซ.S ฌ.C ญ.I ฎ.T ฏ.T ฐ.T ฑ.T ฒ.T ณ.N ด.T ต.T ถ.T ท.T ธ.T น.N บ.P ป.P ผ.P ฝ.F พ.P ฟ.F ภ.P ม.M ย.I ร.R ล.L ว.W ศ.S ษ.S ส.S ห.H ฬ.L อ.A ฮ.H",
	"ะA ัA าA ำAM ิI ีI ึU ืU ุU ูU เ.E แ.E โ.O ใ.A ไ.A ์^",
	// Devanagari; an a after a consonant is not written
	"अA आA इI ईI उU ऊU एE ऐE ओO औO ऑO कK खK गK घK ङN चC छC जJ झJ ञN टT ठT डT ढT णN तT थT दT धT नN पP फF बP भP मM यI रR लL वW शS षS सS हH",
	"ाA िI ीI ुU ूU ेE ैE ोO ौO ॉO ृR ंN ँN क़K ख़H ग़K ज़S ड़R ढ़R फ़F",
	// Chinese characters that write foreign names
	"阿.A 埃.AI 艾.AI 爱.AI 安.AN 昂.AN 奥.AO 澳.AO 巴.PA 白.PAI 拜.PAI 班.PAN 邦.PAN 保.PAO 鲍.PAO 贝.PEI 本.PEN 比.PI 彼.PI 宾.PIN 波.PO 伯.PO 博.PO 勃.PO 布.PU",
	"查.CA 达.TA 戴.TAI 丹.TAN 道.TAO 得.TE 德.T 登.TEN 邓.TEN 迪.TI 蒂.TI 丁.TIN 东.TON 杜.TU 顿.TUN 多.TO 俄.E 厄.E 恩.N 尔.R 法.FA 凡.FAN 范.FAN 方.FAN 菲.FEI 费.FEI 芬.FEN 弗.F 夫.F 福.FU 富.FU",
	"盖.KAI 甘.KAN 冈.KAN 高.KAO 戈.KO 哥.KO 格.K 根.KEN 古.KU 圭.KUI 哈.HA 海.HAI 汉.HAN 豪.HAO 赫.H 黑.HEI 亨.HEN 洪.HON 胡.HU 华.HUA 怀.WAI 惠.HUI 霍.HO 基.KI 吉.JI 加.KA 贾.JA 简.JIAN 金.KIN 京.KIN 久.KIU 卡.KA 凯.KAI 坎.KAN 康.KAN 考.KAO 科.KO 可.KO 克.K 肯.KEN 库.KU 夸.KUA 奎.KUI",
	"拉.LA 莱.LAI 赖.LAI 兰.LAN 朗.LAN 劳.LAO 勒.L 雷.LEI 莉.LI 里.LI 利.LI 丽.LI 连.LIAN 列.LIE 林.LIN 琳.LIN 隆.LON 龙.LON 卢.LU 鲁.LU 路.LU 伦.LUN 罗.LO 洛.LO 吕.LU 马.MA 玛.MA 麦.MAI 曼.MAN 毛.MAO 梅.MEI 门.MEN 蒙.MON 米.MI 密.MI 明.MIN 摩.MO 莫.MO 默.MO 墨.MO 姆.M 穆.MU",
	"纳.NA 娜.NA 奈.NAI 南.NAN 内.NEI 尼.NI 涅.NIE 宁.NIN 纽.NIU 努.NU 诺.NO 欧.O 帕.PA 派.PAI 潘.PAN 庞.PAN 佩.PEI 彭.PEN 皮.PI 平.PIN 珀.PO 普.P 奇.CI 齐.CI 恰.CA 强.CAN 乔.JO 切.CE 钦.CIN 琼.JUN 丘.CIU 让.JAN 热.JE 日.JI 瑞.RUI 若.RO",
	"萨.SA 塞.SE 赛.SAI 森.SEN 沙.SA 莎.SA 山.SAN 尚.SAN 绍.SAO 舍.SE 圣.SEN 史.S 施.SI 什.S 斯.S 丝.S 思.S 松.SON 苏.SU 孙.SUN 索.SO 塔.TA 泰.TAI 坦.TAN 汤.TAN 唐.TAN 陶.TAO 特.T 腾.TEN 提.TI 廷.TIN 图.TU 土.TU 托.TO 瓦.WA 万.WAN 旺.WAN 威.WEI 韦.WEI 维.WEI 魏.WEI 温.WEN 文.WEN 翁.WEN 沃.WO 乌.U 武.U 伍.U",
	"西.SI 希.SI 锡.SI 席.SI 夏.SA 香.SAN 肖.SO 谢.SE 辛.SIN 欣.SIN 修.SIU 许.SU 雅.IA 亚.IA 扬.IAN 杨.IAN 耶.IE 叶.IE 伊.I 依.I 易.I 因.IN 英.IN 尤.IU 于.IU 约.IO 云.IUN 泽.SE 扎.SA 詹.JAN 哲.JE 朱.JU 兹.S 佐.SO",
}

// scriptSounds has the classes of the letters of scripts; a letter without a sound has none.
var scriptSounds = func() map[rune][]Sound {
	all := map[rune][]Sound{}
	for _, script := range scripts {
		for _, entry := range strings.Fields(script) {
			letters := []rune(strings.TrimRight(entry, soundLetters+"-^"))
			all[letters[0]] = parseSounds(entry[len(string(letters)):])
		}
	}
	return all
}()

// The letters of Korean syllables, in Unicode's order.
var (
	hangulInitials = soundList("K K N T T R M P P S S , J J C K T P H")
	hangulVowels   = soundList("A E IA IE O E IO IE O WA WE WE IO U WO WE WI IU U I I")
	hangulFinals   = soundList(", K K K N N N T L L L L L L L L M P P S S N S S K T P H")
)

// soundList parses entries with spaces between them; a comma has no sound.
func soundList(written string) (list [][]Sound) {
	for _, entry := range strings.Fields(written) {
		list = append(list, parseSounds(strings.Trim(entry, ",")))
	}
	return list
}
