package inject

import (
	"iter"
	"strings"

	"bitextmine/corpus"
	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
)

// ReadPairs reads known translations from a file of source<TAB>target lines, in any compression that corpus reads.
func ReadPairs(path string) ([]Pair, error) {
	var pairs []Pair
	for s, err := range lines(path) {
		if err != nil {
			return nil, err
		}
		source, target, ok := strings.Cut(s.Text, "\t")
		if !ok || strings.Contains(target, "\t") {
			return nil, badinput.Errorf("%s:%d: not source<TAB>target; correct the line", path, s.Line)
		}
		pairs = append(pairs, Pair{corpus.Normalise(source), corpus.Normalise(target)})
	}
	return pairs, nil
}

// ReadAligned reads known translations from two line-aligned files.
func ReadAligned(source, target string) ([]Pair, error) {
	var sides [2]map[uint64]string
	for i, path := range []string{source, target} {
		sides[i] = map[uint64]string{}
		for s, err := range lines(path) {
			if err != nil {
				return nil, err
			}
			sides[i][s.Line] = s.Normal
		}
	}
	if len(sides[0]) != len(sides[1]) {
		return nil, badinput.Errorf("%s has %d sentences and %s has %d: line n of one file must be the translation of line n of the other",
			source, len(sides[0]), target, len(sides[1]))
	}
	var pairs []Pair
	for n := uint64(1); len(pairs) < len(sides[0]); n++ {
		if text, ok := sides[0][n]; ok {
			pairs = append(pairs, Pair{text, sides[1][n]})
		}
	}
	return pairs, nil
}

func lines(path string) iter.Seq2[corpus.Sentence, error] {
	opts := corpus.DefaultOptions()
	opts.Format, opts.OnBadLine = corpus.FormatText, corpus.SkipBadLine
	return corpus.Sentences(corpus.Input{Path: path}, opts)
}

// FixturePairs returns the program's own German-English pairs, swapped if English is the source.
func FixturePairs(source, target string) ([]Pair, error) {
	if !(source == "de" && target == "en") && !(source == "en" && target == "de") {
		return nil, badinput.Errorf("the program has known pairs of de-en but not of %s-%s: give some with --pairs", source, target)
	}
	texts := [2]map[string]string{{}, {}}
	for i, name := range []string{"text/de.txt", "text/en.txt"} {
		if err := eachFixture(name, func(id, text string) { texts[i][id] = corpus.Normalise(text) }); err != nil {
			return nil, err
		}
	}
	var pairs []Pair
	err := eachFixture("text/de-en.gold", func(de, en string) {
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
