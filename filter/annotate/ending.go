package annotate

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"bitextmine/corpus/surface"
)

// endings compare how sentences begin and end, and whether they negate.
var endings = []Annotation{
	value("end_differs", Count, 0, 2, "2 if the sides end in marks of different kinds (a statement, a question, an exclamation, an open end), 1 if only one of "+
		"them ends in a mark, 0 otherwise", endDiffers),
	value("case_differs", Count, 0, 2, "2 if one side is all capitals and the other is not, 1 if one begins with a small letter and the other with a capital; "+
		"null where a script has no case", caseDiffers),
	value("negation_differs", Count, 0, 1, "1 if just one side has a word that negates; null where a language's words are not listed", func(p *Pair) float64 {
		a, b := p.Source.surface.Negation, p.Target.surface.Negation
		if a == surface.Unknown || b == surface.Unknown {
			return unknown
		}
		return truth(a != b)
	}),
}

// endKind is the kind of mark that a sentence ends in.
type endKind uint8

const (
	endNone endKind = iota
	endStatement
	endQuestion
	endExclamation
	endOpen // a colon, a semicolon, a comma, a dash, dots
)

// closing are the marks that may stand after the mark at the end.
const closing = "\"'”“„»«’‘)]}）」』】》 "

func (s *Sentence) end() endKind {
	text := strings.TrimRight(s.Text, closing)
	if strings.HasSuffix(text, "...") || strings.HasSuffix(text, "…") {
		return endOpen
	}
	if s.Language == "ja" && strings.HasSuffix(strings.TrimRight(text, "。"), "か") {
		return endQuestion
	}
	for _, kind := range []struct {
		marks string
		kind  endKind
	}{{".。．।॥۔።။។", endStatement}, {"?？؟፧", endQuestion}, {"!！", endExclamation}, {":：;；,，、،؛—–-", endOpen}} {
		if last, _ := utf8.DecodeLastRuneInString(text); strings.ContainsRune(kind.marks, last) {
			if s.Language == "el" && last == ';' {
				return endQuestion // the Greek question mark
			}
			return kind.kind
		}
	}
	return endNone
}

// unmarked are the languages whose sentences usually end without a mark.
var unmarked = map[string]bool{"th": true, "lo": true}

func endDiffers(p *Pair) float64 {
	a, b := p.Source.end(), p.Target.end()
	switch {
	case a == b, unmarked[p.Source.Language], unmarked[p.Target.Language]:
		return 0
	case a == endNone || b == endNone:
		return 1
	}
	return 2
}

// minCapitals is how many letters a side must have to be said to be all capitals: fewer are an abbreviation.
const minCapitals = 8

func caseDiffers(p *Pair) float64 {
	a, b := &p.Source, &p.Target
	if a.cased == 0 || b.cased == 0 {
		return unknown
	}
	allA, allB := a.upper == a.cased, b.upper == b.cased
	if allA != allB && min(a.cased, b.cased) >= minCapitals {
		return 2
	}
	return truth(unicode.IsUpper(a.firstLetter) && unicode.IsLower(b.firstLetter) || unicode.IsLower(a.firstLetter) && unicode.IsUpper(b.firstLetter))
}
