package exchange

import (
	"errors"
	"io"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// ReadKnown reads translations of two languages, normalised, from a file of the format that its name says: a TSV has
// the columns src_text and tgt_text, or the texts in its first two columns.
func ReadKnown(path, source, target string) ([]Pair, error) {
	source, target, err := languages(source, target)
	if err != nil {
		return nil, err
	}
	opts := DefaultOptions()
	opts.SourceLanguage, opts.TargetLanguage = source, target
	r, err := Open(input.File{Path: path}, FormatOf(path), opts)
	if err != nil {
		return nil, err
	}
	return knownPairs(r, path, FormatOf(path) == TMX)
}

// ReadKnownAligned reads translations, normalised, from two line-aligned files.
func ReadKnownAligned(source, target string) ([]Pair, error) {
	r, err := OpenAligned(input.File{Path: source}, input.File{Path: target})
	if err != nil {
		return nil, err
	}
	return knownPairs(r, source, false)
}

// knownPairs reads r to its end and closes it. Empty lines are left out, and so are units without both languages.
func knownPairs(r Reader, name string, units bool) (pairs []Pair, err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		rec, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return pairs, nil
		case err != nil:
			return nil, err
		case rec.Reason == corpus.ReasonEmpty || rec.Reason != "" && units:
		case rec.Reason != "":
			return nil, refuse(name, rec)
		default:
			pairs = append(pairs, Pair{corpus.Normalise(rec.Source), corpus.Normalise(rec.Target)})
		}
	}
}

// refuse is the error of a record that is not a pair.
func refuse(name string, rec Record) error {
	return badinput.Errorf("%s:%d: %s (%s); correct the line or remove it", name, rec.Number, rec.Reason, rec.Detail)
}

// languages gives two codes, in any usual form, corpus's names.
func languages(source, target string) (_, _ string, err error) {
	if source, err = corpus.ParseLanguage(source); err != nil {
		return "", "", err
	}
	target, err = corpus.ParseLanguage(target)
	return source, target, err
}
