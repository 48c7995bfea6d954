package language

import (
	"slices"
	"strings"
)

// A sentence is surely in another language if the identifier gives that language at least minShare of its letters, and
// these are at least minLetters bytes. Measured in docs/languages.md: shorter texts are often names, and of the first
// eight words of a sentence twenty times as many are taken for another language with 40 bytes instead of 60.
const (
	minShare   = 0.8
	minLetters = 60
)

// judged are the languages whose own sentences are hardly ever taken for another one: at most 8 of 1,012 sentences
// of FLORES devtest, relatives aside.
var judged = strings.Fields(`af am ar bg bn ca cs cy da de el en es et eu fa fi fr ga gu ha he hi hu hy id ig is it ja ka kk
	km ko lt lv mr mt my ne nl no pa pl pt ro ru si so sv sw ta te th tr uk ur vi xh yo zh zu`)

// relatives are languages that the identifier confuses, also with a statement. None of them is surely another one of
// its group.
var relatives = [][]string{
	{"id", "ms"}, {"no", "nn", "nb", "da"}, {"bg", "mk", "sr"}, {"zu", "xh", "ss", "nr", "st"}, {"hi", "mr", "ne", "bho"},
}

// Judges reports whether Foreign can tell texts in other languages: whether the stated language is one that was
// measured, in its usual script or as zh-Hant.
func (l *Identifier) Judges() bool {
	usual := base(l.stated) == l.stated || l.stated == "zh-Hant" || l.stated == "ko-Hang"
	return usual && slices.Contains(judged, base(l.stated))
}

// Foreign reports whether a guess says that the text is surely not in the stated language. It never is if the text is
// short, in a close relative of the language, or if the stated language is not one of those that were measured.
func (l *Identifier) Foreign(g Guess) bool {
	return g.Code != "" && g.Share >= minShare && g.Letters >= minLetters && l.Judges() && !related(base(l.stated), base(g.Code))
}

func related(a, b string) bool {
	return a == b || slices.ContainsFunc(relatives, func(group []string) bool {
		return slices.Contains(group, a) && slices.Contains(group, b)
	})
}
