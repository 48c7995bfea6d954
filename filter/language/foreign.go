package language

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"bitextmine/internal/subtag"
)

// A sentence is surely in another language if the identifier gives that language at least minShare of its letters, and
// these are at least minLetters bytes. Measured in docs/languages.md: shorter texts are often names, and of the first
// eight words of a sentence twenty times as many are taken for another language with 40 bytes instead of 60.
const (
	minShare   = 0.8
	minLetters = 60
	minRest    = 20 // letters of words without a capital, which must be in another language too
	minMixed   = 8  // the same where much of the corpus is in another language
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
	usual := subtag.Language(l.stated) == l.stated || l.stated == "zh-Hant" || l.stated == "ko-Hang"
	return usual && slices.Contains(judged, subtag.Language(l.stated))
}

// Foreign reports whether a text, which Identify made this guess of, is surely not in the stated language. It never is
// if the text is short or consists of names, if it is in a close relative of the language, or if the stated language is
// not one of those that were measured.
func (l *Identifier) Foreign(text string, guess Guess) bool {
	if !l.Judges() || !l.other(guess) || guess.Letters < minLetters {
		return false
	}
	rest := uncapitalised(text)
	if len(rest) == len(text) {
		return true
	}
	guess = l.Identify(rest)
	return l.other(guess) && guess.Letters >= minRest
}

// Rather reports whether a text of a corpus that has much text in another language, too, is in that one: the identifier
// of that language says so, without the words that may be names, and that of the corpus does not object. Short texts
// count, because so many others are in that language.
func (l *Identifier) Rather(other *Identifier, text string) bool {
	rest := uncapitalised(text)
	guess := other.Identify(rest)
	if guess.Letters < minMixed {
		return false
	}
	if guess.Code == "" { // too short to tell without its first word, which begins with a capital too
		rest = text
		guess = other.Identify(text)
	}
	if guess.Code == "" || !Same(other.stated, guess.Code) {
		return false
	}
	return !Same(l.stated, l.Identify(rest).Code)
}

func (l *Identifier) other(g Guess) bool {
	return g.Code != "" && g.Share >= minShare && !Same(l.stated, g.Code)
}

// uncapitalised is the text without the words that begin with a capital: names, in most languages.
func uncapitalised(text string) string {
	var rest strings.Builder
	for word := range strings.FieldsSeq(text) {
		at := strings.IndexFunc(word, unicode.IsLetter)
		if at >= 0 {
			if first, _ := utf8.DecodeRuneInString(word[at:]); unicode.IsUpper(first) || unicode.IsTitle(first) {
				continue
			}
		}
		rest.WriteString(word)
		rest.WriteByte(' ')
	}
	if rest.Len() >= len(text) {
		return text
	}
	return rest.String()
}

// Same reports whether two of the program's codes are one language, scripts aside, or languages that the identifier
// confuses.
func Same(a, b string) bool {
	a, b = subtag.Language(a), subtag.Language(b)
	return a == b || together(relatives, a, b)
}

// near are languages in which many sentences are spelt alike, or nearly, besides the relatives.
var near = [][]string{{"hr", "bs", "sr"}, {"cs", "sk"}, {"pt", "gl", "es", "ca", "oc"}, {"nl", "af"}, {"ru", "uk", "be"}, {"no", "nn", "nb", "da", "sv"}}

// Near reports whether two languages, given by the program's codes, are so near that equal texts may be translations of
// each other. Two scripts of one language are.
func Near(a, b string) bool {
	return Same(a, b) || together(near, subtag.Language(a), subtag.Language(b))
}

func together(groups [][]string, a, b string) bool {
	return slices.ContainsFunc(groups, func(group []string) bool {
		return slices.Contains(group, a) && slices.Contains(group, b)
	})
}
