package exchange

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
)

// FixturePairs returns the program's own known pairs of two languages, normalised: sentences in fifteen languages
// (fixtures/text/parallel.tsv), before which come, for German and English, the translations of the sample corpora.
func FixturePairs(source, target string) ([]Pair, error) {
	source, target, err := languages(source, target)
	if err != nil {
		return nil, err
	}
	var pairs []Pair
	if source == "de" && target == "en" || source == "en" && target == "de" {
		if pairs, err = samplePairs(source); err != nil {
			return nil, err
		}
	}
	table, err := readTable()
	if err != nil {
		return nil, err
	}
	for _, row := range table.rows {
		if p := (Pair{row[source], row[target]}); p.Source != "" && p.Target != "" && source != target {
			pairs = append(pairs, p)
		}
	}
	if len(pairs) == 0 {
		return nil, badinput.Errorf("the program has known pairs of %s only: give a file of known %s-%s pairs",
			strings.Join(table.languages, ", "), source, target)
	}
	return pairs, nil
}

// MixedPairs returns the FixturePairs of two languages, or known pairs of other languages where the program has no
// text in one of the two: each sentence then in a language of its row, by turns, where it is to stand for a language
// that the row lacks. of says which languages the pairs are in.
func MixedPairs(source, target string) (pairs []Pair, of string, err error) {
	if source, target, err = languages(source, target); err != nil {
		return nil, "", err
	}
	table, err := readTable()
	if err != nil {
		return nil, "", err
	}
	if slices.Contains(table.languages, source) && slices.Contains(table.languages, target) {
		pairs, err = FixturePairs(source, target)
		return pairs, source + "-" + target, err
	}
	for i, row := range table.rows {
		from := table.inPlaceOf(row, source, "", i)
		to := table.inPlaceOf(row, target, from, i+1)
		pairs = append(pairs, Pair{row[from], row[to]})
	}
	return pairs, "several languages, none of them " + table.missing(source, target), nil
}

// FixtureText returns the sentences of the program's known pairs by language: sentences[i] belongs to languages[i].
func FixtureText() (languages []string, sentences [][]string, err error) {
	table, err := readTable()
	if err != nil {
		return nil, nil, err
	}
	sentences = make([][]string, len(table.languages))
	for _, row := range table.rows {
		for i, language := range table.languages {
			if text := row[language]; text != "" {
				sentences[i] = append(sentences[i], text)
			}
		}
	}
	return table.languages, sentences, nil
}

// table is parallel.tsv: sentences of one meaning, by language. The first column is the register.
type table struct {
	languages []string
	rows      []map[string]string
}

func readTable() (*table, error) {
	const name = "text/parallel.tsv"
	data, err := fixtures.Text.ReadFile(name)
	if err != nil {
		return nil, err
	}
	t := &table{}
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		fields = fields[1:]
		if t.languages == nil {
			t.languages = fields
			continue
		}
		if len(fields) != len(t.languages) {
			return nil, fmt.Errorf("%s: a row of %d fields under %d languages", name, len(fields), len(t.languages))
		}
		row := map[string]string{}
		for i, language := range t.languages {
			if text := corpus.Normalise(fields[i]); text != "" {
				row[language] = text
			}
		}
		t.rows = append(t.rows, row)
	}
	return t, nil
}

// inPlaceOf is the language of a row that stands for a wanted one: itself, or by turns one of the others except taken
// and English, which is left for the other side.
func (t *table) inPlaceOf(row map[string]string, wanted, taken string, turn int) string {
	if row[wanted] != "" {
		return wanted
	}
	var there []string
	for _, language := range t.languages {
		if row[language] != "" && language != taken && language != "en" {
			there = append(there, language)
		}
	}
	return there[turn%len(there)]
}

// missing names the languages that the table lacks.
func (t *table) missing(languages ...string) string {
	languages = slices.DeleteFunc(slices.Clone(languages),
		func(l string) bool { return slices.Contains(t.languages, l) })
	return strings.Join(languages, " or ")
}

// samplePairs is the translations of the sample corpora, turned round where English is the source.
func samplePairs(source string) (pairs []Pair, err error) {
	texts := [2]map[string]string{{}, {}}
	for side, name := range []string{"text/de.txt", "text/en.txt"} {
		if err := eachFixture(name, func(id, text string) { texts[side][id] = corpus.Normalise(text) }); err != nil {
			return nil, err
		}
	}
	err = eachFixture("text/de-en.gold", func(de, en string) {
		pair := Pair{texts[0][de], texts[1][en]}
		if source == "en" {
			pair.Source, pair.Target = pair.Target, pair.Source
		}
		pairs = append(pairs, pair)
	})
	return pairs, err
}

func eachFixture(name string, each func(a, b string)) error {
	data, err := fixtures.Text.ReadFile(name)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		a, b, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		each(a, b)
	}
	return nil
}

// ReadKnown reads translations of two languages, normalised, from a file of the format that its name says: a TSV has
// columns of texts that TextColumns knows, or the texts in its first two columns.
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
			WarnUnnamed(r, name, " of mine export, which writes them alone")
			return pairs, nil
		case err != nil:
			return nil, err
		case rec.Reason == corpus.ReasonEmpty, rec.Reason == Untranslated, rec.Reason != "" && units:
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
	if source == "" || target == "" {
		return "", "", badinput.Errorf("known pairs have two languages: name both with --src and --tgt")
	}
	if source, err = corpus.ParseLanguage(source); err != nil {
		return "", "", err
	}
	target, err = corpus.ParseLanguage(target)
	return source, target, err
}
