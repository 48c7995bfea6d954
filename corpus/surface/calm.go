package surface

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"bitextmine/internal/subtag"
)

// Sentences that are written loudly: in capitals, or as a title with a capital at nearly every word. Encoders know few
// of their words so, and names cannot be told from them: without Calm nothing is found of a page in capitals
// (bench/results/scoring-2026-11-29.md).
const (
	minShouted = 10  // letters with case that a sentence in capitals has at least: an acronym is no loud sentence
	minTitled  = 5   // longer words that a title has at least
	minLonger  = 4   // letters of a longer word; titles have articles and prepositions in lower case
	loudShare  = 0.9 // share of letters or longer words that are capital or have a capital, at least

	uncased = 0x2e80 // first of the scripts of East Asia, which have no case
)

// Calm returns a normalised sentence of a language as encoders and features get it: a loud one in lower case, Chinese,
// Japanese and Thai without the blanks that word segmentation puts between their characters, and Arabic and Hebrew with
// vowels at most words, as in scripture and books for learners, without these; none has HTML's tags and entities. loud
// says that case says nothing of the sentence.
func Calm(text, language string) (calm string, loud bool) {
	text = WithoutMarkup(text)
	base := subtag.Language(language)
	if base != "yi" && base != "ks" { // where the marks are their only vowels
		text = withoutVowels(text)
	}
	switch base {
	case "zh", "ja", "yue":
		text = withoutBlanks(text, isUnspaced)
	case "th":
		if isSegmented(text) {
			text = withoutBlanks(text, isThai)
		}
	}
	if !isLoud(text, base != "de" && base != "lb") {
		return text, false
	}
	if base == "tr" || base == "az" {
		return strings.ToLowerSpecial(unicode.TurkishCase, text), true
	}
	return strings.ToLower(text), true
}

// caseOf is what the case of a text's letters and longer words says.
type caseOf struct {
	upper, lower   int  // letters
	longer, titled int  // longer words, and those with a capital
	letters        int  // number in the word so far
	capital        bool // the word's first letter is one
}

func (c *caseOf) endWord() {
	if c.letters >= minLonger {
		c.longer++
		if c.capital {
			c.titled++
		}
	}
	c.letters, c.capital = 0, false
}

// isLoud reports whether a sentence is in capitals, or a title if those count.
func isLoud(text string, titles bool) bool {
	// More letters or longer words in lower case than these are too many, whatever follows.
	mostLower, mostUntitled := int((1-loudShare)*float64(len(text))), int((1-loudShare)*float64(len(text)/minLonger))
	var c caseOf
	for _, r := range text {
		switch {
		case 'a' <= r && r <= 'z' || r >= utf8.RuneSelf && r < uncased && unicode.IsLower(r):
			c.lower++
			c.letters++
		case 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf && r < uncased && (unicode.IsUpper(r) || unicode.IsTitle(r)):
			c.capital = c.capital || c.letters == 0
			c.upper++
			c.letters++
		case r == '\'' || r == '’' || r >= utf8.RuneSelf && r < uncased && unicode.IsMark(r):
		default:
			if c.endWord(); c.lower > mostLower && c.longer-c.titled > mostUntitled {
				return false
			}
		}
	}
	c.endWord()
	if cased := c.upper + c.lower; cased >= minShouted && float64(c.upper) >= loudShare*float64(cased) {
		return true
	}
	return titles && c.longer >= minTitled && float64(c.titled) >= loudShare*float64(c.longer)
}

// pointed is the number of marks for each letter from which a text in Arabic or Hebrew script is written with vowels:
// one in a hundred ordinary sentences has so many, and texts with all vowels have six times as many.
const pointed = 0.1

// pointsOf are the vowels and other marks above and below letters of Arabic and Hebrew, and what stretches an Arabic
// word.
var pointsOf = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x0591, Hi: 0x05bd, Stride: 1}, {Lo: 0x05bf, Hi: 0x05c7, Stride: 1}, {Lo: 0x0610, Hi: 0x061a, Stride: 1},
	{Lo: 0x0640, Hi: 0x0640, Stride: 1}, {Lo: 0x064b, Hi: 0x065f, Stride: 1}, {Lo: 0x0670, Hi: 0x0670, Stride: 1},
	{Lo: 0x06d6, Hi: 0x06ed, Stride: 1},
}}

// withoutVowels removes the vowels of a text in Arabic or Hebrew script that has many.
func withoutVowels(text string) string {
	at := 0
	for at < len(text) && (text[at] < 0xd6 || text[at] > 0xdb) { // first bytes of both scripts
		at++
	}
	points, letters := 0, 0
	for _, r := range text[at:] {
		switch {
		case r < 0x0590 || r > 0x06ff:
		case unicode.Is(pointsOf, r):
			points++
		case unicode.IsLetter(r):
			letters++
		}
	}
	if points == 0 || float64(points) < pointed*float64(letters) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if unicode.Is(pointsOf, r) {
			return -1
		}
		return r
	}, text)
}

// segmented is the number of blanks between Thai characters, for each of these, from which a sentence is parted into
// words: these have four or five characters. Of ordinary sentences, which have blanks between phrases, one in five
// hundred has so many.
const segmented = 0.1

// isSegmented reports whether there are blanks between the words of a Thai sentence.
func isSegmented(text string) bool {
	thai, blanks := 0, 0
	var before [2]rune
	for _, r := range text {
		if isThai(r) {
			thai++
			if before[1] == ' ' && isThai(before[0]) {
				blanks++
			}
		}
		before = [2]rune{before[1], r}
	}
	return float64(blanks) > segmented*float64(thai)
}

func isThai(r rune) bool { return unicode.Is(unicode.Thai, r) }

// withoutBlanks removes blanks between two characters of scripts that have none between words.
func withoutBlanks(text string, isUnspaced func(rune) bool) string {
	if !strings.Contains(text, " ") {
		return text
	}
	var w strings.Builder
	last := rune(0)
	for i, r := range text {
		if r == ' ' && isUnspaced(last) {
			if next, _ := utf8.DecodeRuneInString(text[i+1:]); isUnspaced(next) {
				continue
			}
		}
		w.WriteRune(r)
		last = r
	}
	return w.String()
}

func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || 0x3001 <= r && r <= 0x303f || 0xff01 <= r && r <= 0xff60
}
