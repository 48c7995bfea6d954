package page

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/gogs/chardet"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/unicode/norm"

	"bitextmine/internal/cld2"
	"bitextmine/internal/subtag"
)

// guessed is an encoding that a page may be in.
type guessed struct {
	name      string
	languages string // CLD2's codes of those that are written in it
	latin     bool   // few of its letters are beyond ASCII
}

// encodings are those of one byte a character that a page which names none may be in. Of two that fit alike the first
// is taken.
var encodings = []guessed{
	{"windows-1252", "af br ca co cy da de en es eu fi fo fr fy ga gd gl id is it la lb ms nl nn no oc pt rm sq sv sw tl", true},
	{"windows-1250", "bs cs hr hu pl ro sk sl sr", true},
	{"iso-8859-2", "bs cs hr hu pl ro sk sl sr", true},
	{"windows-1254", "az tr", true},
	{"windows-1257", "et lt lv", true},
	{"windows-1258", "vi", false},
	{"windows-1251", "be bg kk ky mk mn ru sr tg tt uk", false},
	{"koi8-r", "ru", false},
	{"koi8-u", "ru uk", false},
	{"iso-8859-5", "be bg mk ru sr", false},
	{"ibm866", "be ru", false},
	{"windows-1253", "el", false},
	{"iso-8859-7", "el", false},
	{"windows-1255", "iw yi", false},
	{"iso-8859-8", "iw yi", false},
	{"iso-8859-8-i", "iw yi", false},
	{"windows-1256", "ar fa ku ug ur", false},
	{"iso-8859-6", "ar", false},
	{"windows-874", "th", false},
}

// candidates are the encodings to try for a page: one of several bytes a character only if chardet finds it, which
// tells these apart by their frequent characters.
func candidates(detected string, foreign bool) (some []guessed) {
	for _, e := range encodings {
		if !e.latin || !foreign {
			some = append(some, e)
		}
	}
	if !slices.ContainsFunc(encodings, func(e guessed) bool { return e.name == detected }) {
		some = append(some, guessed{detected, "ja ko zh zh-Hant", false})
	}
	return some
}

// byScript are languages that CLD2 tells by their script alone, into which an encoding turns any letters. chardet knows
// them.
var byScript = []string{"el", "iw", "yi"}

const (
	// guessBytes is how much of a page's text is read to find its encoding.
	guessBytes = 32 << 10
	// ofDetector is what the encoding that chardet finds is ahead of others, and ofPage one in which the page is in the
	// language that it says.
	ofDetector, ofPage = 0.1, 0.2
	// maxOdd is the share of odd characters that a page may have in an encoding.
	maxOdd = 0.03
	// ofOdd is what they weigh.
	ofOdd = 5
)

// guess finds the encoding of a page by its letters: the one in which it is in a language that is written in that
// encoding. What CLD2 cannot identify is in an encoding of the language that the page says it is in, or in that which
// chardet finds.
func guess(data []byte) (text, name string, ok bool) {
	sample, said := bareText(data)
	detected, many := detector(data), foreign(data) >= maxForeign
	best, most, believed, least := "", 0.0, "", maxOdd
	for _, c := range candidates(detected, many) {
		decoded, known := decodedBy(c.name, sample)
		strange := odd(decoded)
		if !known || strange > maxOdd {
			continue
		}
		languages := strings.Fields(c.languages)
		if strange < least && slices.Contains(languages, said) {
			believed, least = c.name, strange
		}
		found := cld2.Detect(decoded, []byte{0})
		code := cld2.Code(found.Language)
		if !found.Reliable || !slices.Contains(languages, code) || slices.Contains(byScript, code) && c.name != detected && code != said {
			continue
		}
		strange += foreignLetters(decoded, code)
		score := 1 + float64(found.Percent)/100 - ofOdd*strange
		if c.name == detected || c.name == "windows-1250" && detected == "iso-8859-2" { // chardet takes them for one
			score += ofDetector
		}
		if code == said {
			score += ofPage
		}
		if score > most {
			best, most = c.name, score
		}
	}
	switch {
	case best != "":
		name = best
	case believed != "":
		name = believed
	case many:
		name = detected
	}
	text, ok = decodedBy(name, data)
	return text, name, ok
}

// notIn are letters that a language does not have and that one of its encodings has in the place of its own.
var notIn = map[string]string{"pl": "šťžľ", "cs": "ąľśź", "sk": "ąśź", "sl": "ąľśź", "hr": "ąľśź", "bs": "ąľśź", "sr": "ąľśź"}

// foreignLetters is the share of letters that a language does not have among the characters beyond ASCII.
func foreignLetters(text, code string) float64 {
	n, all := 0, 0
	for _, r := range text {
		if r >= 0x80 {
			all++
			if strings.ContainsRune(notIn[code], unicode.ToLower(r)) {
				n++
			}
		}
	}
	return float64(n) / float64(max(all, 1))
}

// detector is the encoding that chardet finds; empty if it finds none.
func detector(data []byte) string {
	found, err := chardet.NewHtmlDetector().DetectBest(data)
	if err != nil {
		return ""
	}
	of, err := htmlindex.Get(strings.ToLower(found.Charset))
	if err != nil {
		return ""
	}
	name, _ := htmlindex.Name(of)
	return name
}

func decodedBy(name string, data []byte) (string, bool) {
	if name == "" {
		return "", false
	}
	of, err := htmlindex.Get(name)
	if err != nil {
		return "", false
	}
	decoded, err := of.NewDecoder().Bytes(data)
	return norm.NFC.String(string(decoded)), err == nil
}

var entities = regexp.MustCompile(`&#?\w+;`)

// renamed are CLD2's codes of languages that it names as nobody else does.
var renamed = map[string]string{"he": "iw", "nb": "no"}

// bareText is the beginning of a page's text without tags, in the page's encoding, and CLD2's code of the language that
// it says it is in, without region or script.
func bareText(data []byte) (text []byte, said string) {
	z := html.NewTokenizer(bytes.NewReader(data))
	var within atom.Atom
	for len(text) < guessBytes {
		switch z.Next() {
		case html.ErrorToken:
			return entities.ReplaceAll(text, []byte(" ")), said
		case html.StartTagToken:
			name, more := z.TagName()
			within = atom.Lookup(name)
			for more && within == atom.Html {
				var key, value []byte
				key, value, more = z.TagAttr()
				if string(key) == "lang" || string(key) == "xml:lang" && said == "" {
					said = subtag.Language(strings.ToLower(string(value)))
					said = cmp.Or(renamed[said], said)
				}
			}
		case html.EndTagToken:
			within = 0
		case html.TextToken:
			if within != atom.Script && within != atom.Style {
				raw := z.Raw()
				text = append(append(text, raw[:min(len(raw), guessBytes)]...), ' ')
			}
		}
	}
	return entities.ReplaceAll(text, []byte(" ")), said
}

// odd is the share of the characters beyond ASCII that are none of text, or stand where they do not belong: a sign or a
// capital after a small letter, a letter of another script beside a Latin one, or a vowel of Thai without a consonant.
func odd(text string) float64 {
	n, all := 0, 0
	before := ' '
	for _, r := range text {
		if r >= 0x80 {
			all++
		}
		if misplaced(before, r) {
			n++
		}
		before = r
	}
	return float64(n) / float64(max(all, 1))
}

// misplaced reports whether a character is none of text, or does not stand behind another.
func misplaced(before, r rune) bool {
	letters := unicode.IsLetter(before) && unicode.IsLetter(r)
	switch {
	case r < 0x80 && before < 0x80:
		return false
	case r == '\ufffd' || 0x80 <= r && r < 0xa0:
		return true
	case letters && unicode.Is(unicode.Latin, before) != unicode.Is(unicode.Latin, r):
		return true
	case r < 0x80:
		return false
	case unicode.Is(unicode.Thai, r):
		return misplacedThai(before, r)
	case letters:
		return unicode.IsLower(before) && unicode.IsUpper(r)
	case !unicode.IsLetter(before), 0x3000 <= r && r < 0x3100, 0xff00 <= r: // signs among ideographs
		return false
	}
	return !unicode.In(r, unicode.M, unicode.Pd, unicode.Pe, unicode.Pf, unicode.Pi) && !strings.ContainsRune("…·\u00a0", r)
}

// misplacedThai reports whether a sign of Thai is out of use, or stands where Thai has none: other letters that are
// read as Thai have many of these.
func misplacedThai(before, r rune) bool {
	consonant := 'ก' <= before && before <= 'ฮ'
	tone := '็' <= before && before <= '์'
	switch {
	case strings.ContainsRune("ฃฅฺ๎๏๚๛", r):
		return true
	case 'เ' <= before && before <= 'ไ':
		return r < 'ก' || 'ฮ' < r
	case 'ะ' <= r && r <= 'ู':
		return !(consonant || tone || r == 'ะ' && before == 'า' || r == 'า' && before == 'ํ')
	case r == 'ๅ':
		return before != 'ฤ' && before != 'ฦ'
	case '็' <= r && r <= 'ํ':
		return !unicode.Is(unicode.Thai, before)
	}
	return unicode.IsDigit(r) != unicode.IsDigit(before) && unicode.Is(unicode.Thai, before)
}
