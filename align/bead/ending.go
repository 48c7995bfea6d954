package bead

import (
	"strings"
	"unicode"
)

// mark classifies the punctuation that ends a sentence.
type mark uint8

const (
	noMark mark = iota
	fullStop
	exclamation
	question
	semicolon
	colon
	comma
)

// marks lists the punctuation of scripts that do not use the Latin marks.
var marks = [...]string{
	fullStop: ".。．｡।॥።။۔…", exclamation: "!！", question: "?？؟፧", semicolon: ";；؛", colon: ":：", comma: ",，、،",
}

// markOf is a text's last mark, before quotes and brackets that close.
func markOf(text string) mark {
	for text := []rune(text); len(text) > 0; text = text[:len(text)-1] {
		last := text[len(text)-1]
		for m, of := range marks {
			if strings.ContainsRune(of, last) {
				return mark(m)
			}
		}
		if !unicode.In(last, unicode.Pi, unicode.Pf, unicode.Pe, unicode.Space) && last != '"' && last != '\'' {
			return noMark
		}
	}
	return noMark
}

// final reports whether a mark ends sentences.
func (m mark) final() bool { return m >= fullStop && m <= question }

// endings are the marks that the sentences of two documents end with.
type endings [2][]mark

// minFinal is the part of either document's sentences that end with a final mark, at least, if marks are to count.
// Languages such as Thai have none, and some text lost them.
const minFinal = 0.5

// newEndings reads the marks of two documents; nil if they do not count.
func newEndings(source, target []string) *endings {
	e := &endings{}
	for side, sentences := range [2][]string{source, target} {
		final := 0
		for _, text := range sentences {
			m := markOf(text)
			if m.final() {
				final++
			}
			e[side] = append(e[side], m)
		}
		if float64(final) < minFinal*float64(len(sentences)) {
			return nil
		}
	}
	return e
}

// compare reports as 1 or 0 whether spans that end with sentence i of the source and j of the target end with the same
// mark, and whether both end with a final one; 0 where marks do not count.
func (e *endings) compare(i, j int) (same, final float32) {
	if e == nil {
		return 0, 0
	}
	a, b := e[0][i], e[1][j]
	if a == b {
		same = 1
	}
	if a.final() && b.final() {
		final = 1
	}
	return same, final
}
