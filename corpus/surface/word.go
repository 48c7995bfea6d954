package surface

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FNV-1a, 32 bits, over runes.
const (
	hashStart = 2166136261
	hashPrime = 16777619
)

func mix(hash uint32, r rune) uint32 { return (hash ^ uint32(r)) * hashPrime }

// digits hashes the number at the start of text, without leading zeros and without separators between digits ("1,000",
// "1.000" and "1000" are equal). It returns the number's bytes and runes. Digits of every script count by their value.
func digits(text string) (hash uint32, length, runes int) {
	hash = hashStart
	leading := true
	separator := false
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		switch {
		case IsDigit(r):
			value := Digit(r)
			leading = leading && value == 0
			if !leading {
				hash = mix(hash, '0'+value)
			}
			if separator {
				runes++
			}
			separator = false
			i += width
			length = i
			runes++
		case !separator && (r == '.' || r == ',' || r == ':'):
			separator = true // belongs to the number if a digit follows
			i += width
		default:
			return hash, length, runes
		}
	}
	return hash, length, runes
}

// IsDigit reports whether r is a decimal digit of any script.
func IsDigit(r rune) bool {
	if r < utf8.RuneSelf {
		return '0' <= r && r <= '9'
	}
	return unicode.Is(unicode.Nd, r)
}

// Digit is the value of a decimal digit. In Unicode the ten digits of a script are consecutive.
func Digit(r rune) rune {
	if r < utf8.RuneSelf {
		return r - '0'
	}
	for _, block := range unicode.Nd.R16 {
		if rune(block.Lo) <= r && r <= rune(block.Hi) {
			return (r - rune(block.Lo)) % 10
		}
	}
	for _, block := range unicode.Nd.R32 {
		if rune(block.Lo) <= r && r <= rune(block.Hi) {
			return (r - rune(block.Lo)) % 10
		}
	}
	return 0
}

// unspaced lists scripts that are written without spaces between words. A run of their letters is not a word.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// IsWordLetter reports whether r is a letter of a script that has spaces between words.
func IsWordLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return unicode.IsLetter(r) && (r < 0x0e00 || !unicode.In(r, unspaced...))
}

// Word is the word at the start of a text. Its hashes ignore case and accents.
type Word struct {
	Hash, Stem   uint32 // hashes of the whole word and of its first five letters
	Bytes, Runes int
	Capital      bool // it begins with a capital
}

// WordAt reads the word at the start of text: a letter and the letters, digits and apostrophes after it.
func WordAt(text string) Word {
	w := Word{Hash: hashStart, Stem: hashStart}
	for w.Bytes < len(text) {
		r, width := utf8.DecodeRuneInString(text[w.Bytes:])
		if r != '\'' && r != '’' && !IsWordLetter(r) && (w.Runes == 0 || !IsDigit(r)) {
			if r < utf8.RuneSelf || !unicode.Is(unicode.M, r) {
				break
			}
			w.Bytes += width // a combining mark is an accent, which is ignored
			continue
		}
		if w.Runes == 0 {
			w.Capital = unicode.IsUpper(r)
		}
		base := Fold(text[w.Bytes : w.Bytes+width])
		w.Hash = mix(w.Hash, base)
		if w.Runes < stem {
			w.Stem = mix(w.Stem, base)
		}
		w.Bytes += width
		w.Runes++
	}
	return w
}

// Fold returns a rune's base letter in lower case.
func Fold(encoded string) rune {
	r := rune(encoded[0])
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	if decomposed := norm.NFD.PropertiesString(encoded).Decomposition(); decomposed != nil {
		r, _ = utf8.DecodeRune(decomposed)
	} else {
		r, _ = utf8.DecodeRuneInString(encoded)
	}
	return unicode.ToLower(r)
}

// eliding are the languages whose articles and other short words are written together with the next word.
var eliding = map[string]bool{"ca": true, "fr": true, "it": true}

// elided are such words, without their apostrophe.
var elided = func() map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields("c d j l m n s t v qu jusqu lorsqu puisqu quoiqu all dall dell nell sull un quest quell anch sant") {
		words[word] = true
	}
	return words
}()

// Negation says whether a sentence has a negation word.
type Negation uint8

// Unknown is the value for a language without a list of negation words.
const (
	Unknown Negation = iota
	Affirmed
	Negated
)

// negations lists common negation words by language that hardly ever mean anything else. Spanish "no" and German "kein"
// are included. French "plus" and "personne" are not, because they have other meanings; "ne" is not, because it always
// comes with a listed word.
var negations = map[string]string{
	"de": "nicht nichts kein keine keinen keinem keiner keines nie niemals niemand niemanden niemandem nirgends nirgendwo weder ohne",
	"en": "not no never none nobody nothing neither nor nowhere without cannot " +
		"isn't aren't wasn't weren't don't doesn't didn't won't wouldn't can't couldn't shouldn't mustn't hasn't haven't hadn't needn't",
	"es": "no nunca jamás nadie nada ningún ninguno ninguna ni sin tampoco",
	"fr": "pas jamais rien aucun aucune sans ni nul nulle",
}

// negatingRunes lists the negation characters of languages that are written without spaces.
var negatingRunes = map[string]string{"zh": negatingHan, "zh-Hant": negatingHan}

const negatingHan = "不没沒无無未" // simplified and traditional

// negationHashes holds the words of negations, hashed as WordAt does.
var negationHashes = func() map[string]map[uint32]bool {
	all := map[string]map[uint32]bool{}
	for language, words := range negations {
		all[language] = map[uint32]bool{}
		for _, word := range strings.Fields(words) {
			all[language][WordAt(word).Hash] = true
			all[language][WordAt(strings.ReplaceAll(word, "'", "’")).Hash] = true
		}
	}
	return all
}()

// firstSpelled is the value of the first word in spelledOut. One is an article in many languages.
const firstSpelled = 2

// spelledOut lists the words of 2 to 20 and of 30, 40 and so on to 90. A number that is not one word, or whose word
// usually means something else, is "-".
var spelledOut = map[string]string{
	"de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig " +
		"dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
	"en": "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty " +
		"thirty forty fifty sixty seventy eighty ninety",
	"es": "dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte " +
		"treinta cuarenta cincuenta sesenta setenta ochenta noventa",
	"fr": "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize - - - vingt " +
		"trente quarante cinquante soixante - - -",
	"it": "due tre quattro cinque - sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove venti " +
		"trenta quaranta cinquanta sessanta settanta ottanta novanta",
	"nl": "twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien twintig " +
		"dertig veertig vijftig zestig zeventig tachtig negentig",
	"pl": "dwa trzy cztery pięć sześć siedem osiem dziewięć dziesięć jedenaście dwanaście trzynaście czternaście piętnaście szesnaście siedemnaście " +
		"osiemnaście dziewiętnaście dwadzieścia trzydzieści czterdzieści pięćdziesiąt sześćdziesiąt siedemdziesiąt osiemdziesiąt dziewięćdziesiąt",
	"pt": "dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove vinte " +
		"trinta quarenta cinquenta sessenta setenta oitenta noventa",
	"ru": "два три четыре пять шесть семь восемь девять десять одиннадцать двенадцать тринадцать четырнадцать пятнадцать шестнадцать семнадцать " +
		"восемнадцать девятнадцать двадцать тридцать сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто",
}

// spelledNumbers holds the values of spelledOut by language and by the words' hashes.
var spelledNumbers = func() map[string]map[uint32]int {
	all := map[string]map[uint32]int{}
	for language, words := range spelledOut {
		all[language] = map[uint32]int{}
		for i, word := range strings.Fields(words) {
			value := firstSpelled + i
			if value > 20 {
				value = (value - 18) * 10
			}
			if word != "-" {
				all[language][WordAt(word).Hash] = value
			}
		}
	}
	return all
}()

// maxAcronym is the number of letters of the longest words that are taken for acronyms.
const maxAcronym = 5

// Acronym hashes the letters of three to five capitals in the order of the alphabet, because other languages often have
// them in another order: NATO is OTAN, and BIP, the gross domestic product, PIB. ok is false for other words.
func Acronym(word string) (hash uint32, ok bool) {
	if len(word) < minName || len(word) > maxAcronym {
		return 0, false
	}
	letters := []byte(word)
	for _, letter := range letters {
		if letter < 'A' || letter > 'Z' {
			return 0, false
		}
	}
	slices.Sort(letters)
	hash = hashStart
	for _, letter := range letters {
		hash = mix(hash, rune(letter))
	}
	return hash, true
}
