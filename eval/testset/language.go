package testset

import (
	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// LanguagePair is two languages by their names from corpus.ParseLanguage.
type LanguagePair struct{ Source, Target string }

func (p LanguagePair) String() string { return p.Source + "-" + p.Target }

// ParsePair reads two language codes.
func ParsePair(source, target string) (LanguagePair, error) {
	var p LanguagePair
	var err error
	if p.Source, err = corpus.ParseLanguage(source); err != nil {
		return p, err
	}
	if p.Target, err = corpus.ParseLanguage(target); err != nil {
		return p, err
	}
	if p.Source == p.Target {
		return p, badinput.Errorf("source and target are both %s: name two languages", p.Source)
	}
	return p, nil
}

// sameLanguage reports whether a code in a file name is the code of the language.
func sameLanguage(code, language string) bool {
	parsed, err := corpus.ParseLanguage(code)
	return err == nil && parsed == language
}

// pairOf reads a pair such as "de-en" from a file name. ok is false if the name is not a pair of two languages.
func pairOf(name string) (pair LanguagePair, ok bool) {
	for i := range name {
		if name[i] != '-' {
			continue
		}
		// A code may itself contain a hyphen: zh-Hant-en.
		if pair, err := ParsePair(name[:i], name[i+1:]); err == nil {
			return pair, true
		}
	}
	return pair, false
}
