package testset

import (
	"cmp"
	"io/fs"
	"os"
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
	File           string // path of the set
	First, Second  Side   // Second has no texts if sentences have labels
	Labels         []string
}

// ReadPairs reads the sets of labelled pairs under dir: TSV files with a header that has sentence1, sentence2 and label
// or gold_label, as PAWS-X and XNLI are published. The language is in the column language, or it is the name of the
// file's directory. A file without such a header is left out. Where a directory has a file of test pairs, those for
// training and development in it are not read, but named in unread.
func ReadPairs(dir string) (sets []Labelled, unread []string, err error) {
	var files []string
	tests := map[string]bool{} // directories with test pairs
	err = filepath.WalkDir(dir+string(filepath.Separator), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".tsv" {
			return err
		}
		files = append(files, path)
		tests[filepath.Dir(path)] = tests[filepath.Dir(path)] || partOf(path) == "test"
		return nil
	})
	if err != nil {
		return nil, nil, badinput.Errorf("look for labelled pairs: %w", err)
	}
	for _, path := range files {
		if part := partOf(path); tests[filepath.Dir(path)] && part != "" && part != "test" {
			unread = append(unread, path)
			continue
		}
		found, err := readPairs(path, filepath.Base(filepath.Dir(path)))
		if err != nil {
			return nil, nil, err
		}
		sets = append(sets, found...)
	}
	if len(sets) == 0 {
		return nil, nil, badinput.Errorf("%s has no labelled pairs: it needs .tsv files with the columns sentence1, sentence2 "+
			"and label or gold_label", dir)
	}
	return sets, unread, nil
}

// partOf is the part of a corpus that a file's name says it is, as in translated_train.tsv, dev_2k.tsv and
// xnli.test.tsv; empty: it says nothing.
func partOf(path string) string {
	if part := partName.FindStringSubmatch(filepath.Base(path)); part != nil {
		return part[1]
	}
	return ""
}

var partName = regexp.MustCompile(`(?:^|[._-])(train|dev|test)[._-]`)

// pairColumns are the columns of a file of labelled pairs by their names in the header: those of PAWS-X and XNLI, and
// those of MRPC.
var pairColumns = map[string]string{"sentence1": "first", "sentence2": "second", "label": "label", "gold_label": "label",
	"language": "language", "#1 String": "first", "#2 String": "second", "Quality": "label"}

// readPairs reads a file of labelled pairs, one set for each language. code is the language of a file without such a
// column. A file without the other columns has no sets, and one with them must have pairs.
func readPairs(path, code string) (sets []Labelled, err error) {
	rows, err := readFields(path)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	header, column := rows[0].fields, map[string]int{}
	for i, name := range header {
		if role := pairColumns[strings.TrimPrefix(name, "\ufeff")]; role != "" {
			column[role] = i
		}
	}
	for _, role := range []string{"first", "second", "label"} {
		if _, found := column[role]; !found {
			return nil, nil
		}
	}
	if len(rows) == 1 {
		return nil, badinput.Errorf("%s has a header but no pairs: put lines of pairs there, or remove it", path)
	}
	of := map[string]int{}
	for _, row := range rows[1:] {
		if len(row.fields) != len(header) {
			return nil, badinput.Errorf("%s:%d: the line has %d fields but the header %d: correct the line", path, row.line,
				len(row.fields), len(header))
		}
		if at, found := column["language"]; found {
			code = row.fields[at]
		}
		at, known := of[code]
		if !known {
			at, of[code] = len(sets), len(sets)
			parsed, err := corpus.ParseLanguage(code)
			if err != nil {
				return nil, badinput.Errorf("%s:%d: %w: the column language or the directory's name must be a code", path,
					row.line, err)
			}
			sets = append(sets, Labelled{Language: parsed, File: path, Name: code + " " + strings.TrimSuffix(filepath.Base(path), ".tsv"),
				First: Side{Language: parsed}, Second: Side{Language: parsed}})
		}
		s := &sets[at]
		s.First.Texts = append(s.First.Texts, strip(row.fields[column["first"]]))
		s.Second.Texts = append(s.Second.Texts, strip(row.fields[column["second"]]))
		s.Labels = append(s.Labels, row.fields[column["label"]])
	}
	return sets, nil
}

// labelledFile is a file of MLDoc's layout, LANG.train.1000 or LANG.test; the size may be missing. Files of labelled
// pairs end in .tsv.
var labelledFile = regexp.MustCompile(`^([^.]+)\.(train|test)(\.[0-9]+|\.tsv)?$`)

// mldocLanguages are the languages of MLDoc as the names of its own files have them.
var mldocLanguages = map[string]string{"chinese": "zh", "english": "en", "french": "fr", "german": "de", "italian": "it",
	"japanese": "ja", "russian": "ru", "spanish": "es"}

// mrpcFile is a file of the Microsoft Research paraphrase corpus.
var mrpcFile = regexp.MustCompile(`^msr_paraphrase_(train|test)\.txt$`)

// ReadLabelled reads the sets of labelled texts in dir: files LANG.train or LANG.train.SIZE, and LANG.test, of lines
// label<TAB>text, as MLDoc is published (LANG is a code, or MLDoc's word for one of its languages); and those of
// labelled pairs, LANG.train.tsv and LANG.test.tsv with the columns of ReadPairs, or MRPC's own files. tests and trains
// are by language. A test set of which no label is one of the training texts' is refused.
func ReadLabelled(dir string) (trains, tests []Labelled, err error) {
	entries, err := fs.Glob(os.DirFS(dir), "*") // dir itself is no pattern
	if err != nil {
		return nil, nil, badinput.Errorf("look for labelled texts: %w", err)
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry)
		name := labelledFile.FindStringSubmatch(filepath.Base(path))
		if mrpc := mrpcFile.FindStringSubmatch(filepath.Base(path)); mrpc != nil {
			name = []string{"", "en", mrpc[1], ".tsv"}
		}
		if name == nil {
			continue
		}
		language, err := corpus.ParseLanguage(cmp.Or(mldocLanguages[name[1]], name[1]))
		if err != nil {
			return nil, nil, badinput.Errorf("%s: %w: the name must begin with a code", path, err)
		}
		read := readLabelled
		if name[3] == ".tsv" {
			read = readOnePairs
		}
		set, err := read(path, language)
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
			"LANG.test, of lines label<TAB>text, or LANG.train.tsv and LANG.test.tsv of labelled pairs", dir)
	}
	return trains, tests, checkLabels(trains, tests)
}

// checkLabels refuses a test set of which no label is known from training, such as one with its columns swapped.
func checkLabels(trains, tests []Labelled) error {
	known := map[string]bool{}
	for _, set := range trains {
		for _, label := range set.Labels {
			known[label] = true
		}
	}
	for _, set := range tests {
		if !slices.ContainsFunc(set.Labels, func(label string) bool { return known[label] }) {
			return badinput.Errorf("no label of %s, such as %q, is a label of the training texts, such as %q: correct the files",
				set.File, set.Labels[0], trains[0].Labels[0])
		}
	}
	return nil
}

// readOnePairs reads a file of labelled pairs of one language.
func readOnePairs(path, language string) (Labelled, error) {
	sets, err := readPairs(path, language)
	switch {
	case err != nil:
		return Labelled{}, err
	case len(sets) != 1 || sets[0].Language != language:
		return Labelled{}, badinput.Errorf("%s must have the columns sentence1, sentence2 and label, and pairs of the "+
			"language %s alone, which its name says", path, language)
	}
	sets[0].Name = filepath.Base(path)
	return sets[0], nil
}

func readLabelled(path, language string) (Labelled, error) {
	set := Labelled{Language: language, File: path, Name: filepath.Base(path), First: Side{Language: language}}
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
