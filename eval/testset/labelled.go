package testset

import (
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// Labelled is sentences, or pairs of them, of one language with labels.
type Labelled struct {
	Language, Name string
	First, Second  Side // Second has no texts if sentences have labels
	Labels         []string
}

// ReadPairs reads the sets of labelled pairs under dir: TSV files with a header that has sentence1, sentence2 and label
// or gold_label, as PAWS-X and XNLI are published. The language is in the column language, or it is the name of the
// file's directory. A file without such a header is left out.
func ReadPairs(dir string) ([]Labelled, error) {
	var sets []Labelled
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".tsv" {
			return err
		}
		found, err := readPairs(path)
		sets = append(sets, found...)
		return err
	})
	switch {
	case badinput.Is(err):
		return nil, err
	case err != nil:
		return nil, badinput.Errorf("look for labelled pairs: %w", err)
	case len(sets) == 0:
		return nil, badinput.Errorf("%s has no labelled pairs: it needs .tsv files with the columns sentence1, sentence2 "+
			"and label or gold_label", dir)
	}
	return sets, nil
}

func readPairs(path string) (sets []Labelled, err error) {
	rows, err := readFields(path)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	header := rows[0].fields
	label := max(slices.Index(header, "label"), slices.Index(header, "gold_label"))
	first, second := slices.Index(header, "sentence1"), slices.Index(header, "sentence2")
	if min(label, first, second) < 0 {
		return nil, nil
	}
	language := slices.Index(header, "language")
	of := map[string]int{}
	for _, row := range rows[1:] {
		if len(row.fields) != len(header) {
			return nil, badinput.Errorf("%s:%d: the line has %d fields but the header %d: correct the line", path, row.line,
				len(row.fields), len(header))
		}
		code := filepath.Base(filepath.Dir(path))
		if language >= 0 {
			code = row.fields[language]
		}
		at, known := of[code]
		if !known {
			at, of[code] = len(sets), len(sets)
			parsed, err := corpus.ParseLanguage(code)
			if err != nil {
				return nil, badinput.Errorf("%s:%d: %w: the column language or the directory's name must be a code", path,
					row.line, err)
			}
			sets = append(sets, Labelled{Language: parsed, Name: code + " " + strings.TrimSuffix(filepath.Base(path), ".tsv"),
				First: Side{Language: parsed}, Second: Side{Language: parsed}})
		}
		s := &sets[at]
		s.First.Texts = append(s.First.Texts, strip(row.fields[first]))
		s.Second.Texts = append(s.Second.Texts, strip(row.fields[second]))
		s.Labels = append(s.Labels, row.fields[label])
	}
	return sets, nil
}

// labelledFile is a file of MLDoc's layout, LANG.train.1000 or LANG.test; the size may be missing.
var labelledFile = regexp.MustCompile(`^([^.]+)\.(train|test)(\.[0-9]+)?$`)

// ReadLabelled reads the sets of labelled texts in dir: files LANG.train or LANG.train.SIZE, and LANG.test, of lines
// label<TAB>text, as MLDoc is published. tests and trains are by language.
func ReadLabelled(dir string) (trains, tests []Labelled, err error) {
	entries, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		return nil, nil, badinput.Errorf("look for labelled texts: %w", err)
	}
	for _, path := range entries {
		name := labelledFile.FindStringSubmatch(filepath.Base(path))
		if name == nil {
			continue
		}
		language, err := corpus.ParseLanguage(name[1])
		if err != nil {
			return nil, nil, badinput.Errorf("%s: %w: the name must begin with a code", path, err)
		}
		set, err := readLabelled(path, language)
		if err != nil {
			return nil, nil, err
		}
		into := &tests
		if name[2] == "train" {
			into = &trains
		}
		if slices.ContainsFunc(*into, func(s Labelled) bool { return s.Language == set.Language }) {
			return nil, nil, badinput.Errorf("%s has several %s files of %s: leave one", dir, name[2], name[1])
		}
		*into = append(*into, set)
	}
	if len(trains) == 0 || len(tests) == 0 {
		return nil, nil, badinput.Errorf("%s has no labelled texts: it needs files LANG.train or LANG.train.SIZE, and "+
			"LANG.test, of lines label<TAB>text", dir)
	}
	return trains, tests, nil
}

func readLabelled(path, language string) (Labelled, error) {
	set := Labelled{Language: language, Name: filepath.Base(path), First: Side{Language: language}}
	rows, err := readFields(path)
	for _, row := range rows {
		if len(row.fields) < 2 || row.fields[0] == "" || strip(row.fields[1]) == "" {
			return set, badinput.Errorf("%s:%d: the line is not label<TAB>text: correct it", path, row.line)
		}
		set.Labels = append(set.Labels, row.fields[0])
		set.First.Texts = append(set.First.Texts, strip(strings.Join(row.fields[1:], " ")))
	}
	if err == nil && len(rows) == 0 {
		err = badinput.Errorf("%s has no lines: put lines of label<TAB>text there, or remove it", path)
	}
	return set, err
}
