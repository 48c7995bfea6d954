package filter

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// minCopiedWords is how many words a text must have to be called a copy of a text that differs in a letter, and
	// minCopiedSmall how many of them must not begin with a capital. Others are copies only if they are equal, and
	// neither a name nor a line of code, which are the same in both languages.
	minCopiedWords, minCopiedSmall = 5, 3
	// wideWord is how many letters of a script without spaces count as a word.
	wideWord = 2
	// firstWide is the first character of these scripts, Thai's.
	firstWide = 0xe00
	// maxDifference is the share of letters and digits by which a copy may differ from its original: one in ten.
	maxDifference = 10
	// codeCharacters are in lines of code, paths and commands, and hardly ever in a sentence of few words.
	codeCharacters = "_{}[]<>=\\/|$@#~^*+`"
	// maxCompared bounds the letters that are compared: a copy is known by its first ones.
	maxCompared = 1000
)

// Copied reports whether two texts are one text that was not translated: the same letters and digits, apart from one in
// ten, without regard to case, punctuation and spaces. Texts of fewer than five words must have all letters in common.
// Names and lines of code are no copies, and texts without a letter are if they have the same digits: a number alone is
// no translation of anything. Two languages as near to each other as Danish and Norwegian need another rule
// (language.Near).
func Copied(a, b string) bool {
	var c comparison
	return c.copied(a, b)
}

// comparison has the memory of a comparison.
type comparison struct {
	a, b []rune
	rows [2][]int
}

func (c *comparison) copied(a, b string) bool {
	if len(a) > 2*len(b)+16 || len(b) > 2*len(a)+16 {
		return false // cheaper than to fold them
	}
	var words, small int
	if c.a, words, small = fold(c.a[:0], a); words < minCopiedWords || small < minCopiedSmall {
		c.b, _, _ = fold(c.b[:0], b)
		number := len(c.a) > 0 && !slices.ContainsFunc(c.a, unicode.IsLetter)
		return slices.Equal(c.a, c.b) && (number || sentence(a) && !code(a))
	}
	c.b, _, _ = fold(c.b[:0], b)
	return c.near(max(len(c.a), len(c.b))/maxDifference) && !code(a)
}

// sentence reports whether a short text is more than a name or a number: it has two words or more, after the first of
// them more that begin with a small letter than others. Scripts without capitals do not tell names.
func sentence(text string) bool {
	words, small := 0, 0
	for word := range strings.FieldsSeq(text) {
		at := strings.IndexFunc(word, unicode.IsLetter)
		if at < 0 {
			continue
		}
		first, _ := utf8.DecodeRuneInString(word[at:])
		if words++; words > 1 && unicode.IsLower(first) {
			small++
		}
	}
	return words > 1 && 2*small > words-1
}

// code reports whether a text is a line of code, a path or a command: a quarter of its words have a character of code
// or a dot inside, or begin with a dash.
func code(text string) bool {
	words, of := 0, 0
	for word := range strings.FieldsSeq(text) {
		words++
		dash := len(word) > 1 && word[0] == '-'
		if dash || strings.ContainsAny(word, codeCharacters) || strings.Contains(strings.Trim(word, ".,:;!?"), ".") {
			of++
		}
	}
	return 4*of >= words
}

// fold appends the text's letters and digits in lower case to letters. It counts the words, and those that do not begin
// with a capital.
func fold(letters []rune, text string) (_ []rune, words, small int) {
	wide, inside := 0, false
	for _, r := range text {
		letter := unicode.IsLetter(r)
		switch {
		case !letter:
		case r >= firstWide && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			wide++
		case !inside:
			words++
			if !unicode.IsUpper(r) {
				small++
			}
		}
		inside = letter || inside && unicode.IsMark(r)
		if (letter || unicode.IsDigit(r)) && len(letters) < maxCompared {
			letters = append(letters, unicode.ToLower(r))
		}
	}
	return letters, words + wide/wideWord, small + wide/wideWord
}

// near reports whether at most limit insertions, deletions and substitutions make b of a: Levenshtein's distance, in
// the band of the diagonals that can be that near.
func (c *comparison) near(limit int) bool {
	a, b := c.a, c.b
	if len(a)-len(b) > limit || len(b)-len(a) > limit || !c.share(limit) {
		return false
	}
	for i := range c.rows {
		c.rows[i] = append(c.rows[i][:0], make([]int, len(b)+1)...)
	}
	before, now := c.rows[0], c.rows[1]
	far := limit + 1
	for j := range before {
		before[j] = min(j, far)
	}
	for i := 1; i <= len(a); i++ {
		low, high := max(1, i-limit), min(len(b), i+limit)
		now[low-1] = far
		if low == 1 {
			now[0] = min(i, far)
		}
		best := now[low-1]
		for j := low; j <= high; j++ {
			cost := before[j-1]
			if a[i-1] != b[j-1] {
				cost++
			}
			above := far
			if j < i+limit {
				above = before[j] + 1
			}
			now[j] = min(cost, above, now[j-1]+1, far)
			best = min(best, now[j])
		}
		if best > limit {
			return false
		}
		before, now = now, before
	}
	return before[len(b)] <= limit
}

// share reports whether the letters of both texts, in any order, can be limit edits apart. It settles nearly every pair
// of different languages.
func (c *comparison) share(limit int) bool {
	var counts [64]int
	for _, r := range c.a {
		counts[r&63]++
	}
	for _, r := range c.b {
		counts[r&63]--
	}
	more, fewer := 0, 0
	for _, n := range counts {
		if n > 0 {
			more += n
		} else {
			fewer -= n
		}
	}
	return max(more, fewer) <= limit
}
