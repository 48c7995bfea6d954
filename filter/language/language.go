package language

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"bitextmine/corpus"
	"bitextmine/internal/cld2"
	"bitextmine/internal/subtag"
)

// Guess is the language that a text was identified as.
type Guess struct {
	Code    string  // corpus.ParseLanguage's code; empty: not identified, as most texts of one or two words are
	Share   float32 // share of the letters, 0 to 1; the others are another language's, or no language was found for them
	Letters int     // bytes of letters in UTF-8: how long the text is without digits and punctuation
}

// Identifier identifies texts of a corpus. Any number of goroutines may use it.
type Identifier struct {
	stated string
	hints  [][]byte // CLD2's codes of the stated language, each with a zero byte: two of Chinese, its usual script first
}

// For returns the identifier for a corpus that is said to be in a language. The statement raises this language's score,
// so that short texts and texts in close relatives are taken to be in it. An empty statement raises none.
func For(stated string) *Identifier {
	l := &Identifier{stated: stated}
	by := hints()
	first, ok := by[stated]
	if !ok {
		first = by[subtag.Language(stated)]
	}
	l.hints = append(l.hints, append([]byte(first), 0))
	for _, code := range slices.Sorted(maps.Keys(by)) {
		if other := by[code]; other != first && subtag.Language(code) == subtag.Language(stated) {
			l.hints = append(l.hints, append([]byte(other), 0))
		}
	}
	return l
}

// Identify returns the language of a text, without addresses, names with @ or #, code and tags. A text that is not
// UTF-8 is not identified.
//
// A statement lowers the score of the same language in another script, so much that CLD2 takes traditional Chinese for
// Japanese where simplified is stated. So what is not in the stated language is identified again, with that script
// stated.
func (l *Identifier) Identify(text string) Guess {
	if text = prose(text); text == "" {
		return Guess{}
	}
	first := identify(text, l.hints[0])
	if Same(l.stated, first.Code) {
		return first
	}
	for _, hint := range l.hints[1:] {
		if g := identify(text, hint); subtag.Language(g.Code) == subtag.Language(l.stated) {
			return g
		}
	}
	return first
}

func identify(text string, hint []byte) Guess {
	found := cld2.Detect(text, hint)
	g := Guess{Letters: found.Letters}
	if g.Code = codes()[found.Language]; g.Code != "" {
		g.Share = float32(found.Percent) / 100
	}
	return g
}

// codes are the program's names of CLD2's languages, by their numbers; empty for what is no language.
var codes = sync.OnceValue(func() []string {
	all := make([]string, cld2.Languages())
	for i := range all {
		if name := cld2.Code(i); !strings.HasPrefix(name, "xx-") { // xx-: a script
			all[i], _ = corpus.ParseLanguage(name)
		}
	}
	all[cld2.Unknown()] = ""
	return all
})

// hints are CLD2's codes by the program's names.
var hints = sync.OnceValue(func() map[string]string {
	by := map[string]string{}
	for i, code := range codes() {
		if code != "" {
			by[code] = cld2.Code(i)
		}
	}
	return by
})
