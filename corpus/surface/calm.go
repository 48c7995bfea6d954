package surface

import (
	"strings"
	"unicode"
	"unicode/utf8"
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

// Calm returns a normalised sentence of a language as encoders and features get it: a loud one in lower case, and
// Chinese and Japanese without blanks between their characters, which only word segmentation puts there. loud says that
// case says nothing of the sentence.
func Calm(text, language string) (calm string, loud bool) {
	base, _, _ := strings.Cut(language, "-")
	if spaced := base == "zh" || base == "ja" || base == "yue"; spaced && strings.Contains(text, " ") {
		text = withoutBlanks(text)
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

// withoutBlanks removes blanks between two characters of scripts that have none between words.
func withoutBlanks(text string) string {
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
