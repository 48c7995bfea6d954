package page

import (
	"slices"

	"golang.org/x/text/language"
	"golang.org/x/text/language/display"

	"bitextmine/bitext/concordance"
)

// Sentence is a text with what a browser must know of it, in parts of which some are marked.
type Sentence struct {
	Language, Direction string
	Parts               []Part
}

// Part of a sentence.
type Part struct {
	Text   string
	Marked bool
}

// NewSentence marks spans of a text in a language. Spans are in order and do not overlap.
func NewSentence(code, text string, marks []concordance.Span) Sentence {
	s := Sentence{Language: code, Direction: Direction(code)}
	at := 0
	for _, m := range marks {
		if m.Start > at {
			s.Parts = append(s.Parts, Part{Text: text[at:m.Start]})
		}
		s.Parts = append(s.Parts, Part{Text: text[m.Start:m.End], Marked: true})
		at = m.End
	}
	if at < len(text) {
		s.Parts = append(s.Parts, Part{Text: text[at:]})
	}
	return s
}

// leftward are the scripts that are written from right to left.
var leftward = []string{"Arab", "Aran", "Hebr", "Syrc", "Thaa", "Nkoo", "Adlm", "Mand", "Samr", "Rohg", "Mend"}

// Direction is rtl or ltr, by the script that a language is written in.
func Direction(code string) string {
	script, _ := language.Make(code).Script()
	if slices.Contains(leftward, script.String()) {
		return "rtl"
	}
	return "ltr"
}

// LanguageName is a language's English name, or its code if it has none.
func LanguageName(code string) string {
	if name := display.English.Tags().Name(language.Make(code)); name != "" {
		return name
	}
	return code
}
