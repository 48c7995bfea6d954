package eval

import (
	"strings"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// LanguagePair is two languages by corpus.ParseLanguage's names.
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

// sameLanguage says whether a code found in a file's name is the language.
func sameLanguage(code, language string) bool {
	parsed, err := corpus.ParseLanguage(code)
	return err == nil && parsed == language
}

// pairOf reads "de-en" out of a file's name; ok is false when it is no pair of two languages.
func pairOf(name string) (pair LanguagePair, ok bool) {
	source, target, ok := strings.Cut(name, "-")
	if !ok {
		return pair, false
	}
	pair, err := ParsePair(source, target)
	return pair, err == nil
}
