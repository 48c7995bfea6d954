package filter

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// minAlike is the share of words that two sentences of one language have in common, at least, if they are near to each
// other in meaning.
const minAlike = 0.5

// Alike reports whether a text could be in the language of another one that is near to it in meaning: half of its
// words, names and short ones aside, occur there. Of a translation hardly any do. A text without such words could be.
func Alike(text, near string) bool {
	between := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }
	others := strings.FieldsFunc(strings.ToLower(near), between)
	words, there := 0, 0
	for word := range strings.FieldsFuncSeq(text, between) {
		if first, _ := utf8.DecodeRuneInString(word); unicode.IsUpper(first) || unicode.IsTitle(first) || utf8.RuneCountInString(word) < 3 {
			continue
		}
		words++
		if slices.Contains(others, word) {
			there++
		}
	}
	return float64(there) >= minAlike*float64(words)
}
