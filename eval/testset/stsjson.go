package testset

import (
	"cmp"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// stsRecord is a line of MTEB's JSON-lines layout of an STS set.
type stsRecord struct {
	line     uint64
	First    *string  `json:"sentence1"`
	Second   *string  `json:"sentence2"`
	Score    *float64 `json:"score"`
	Language string   `json:"lang"` // de, or de-en
}

// stsJSONName returns a file's name without .jsonl, .jsonl.gz and the like, and whether it has such a name.
func stsJSONName(path string) (string, bool) {
	name, _, found := strings.Cut(filepath.Base(path), ".jsonl")
	return name, found
}

// findSTSJSON reads the sets of a file, one for each language or pair of languages that its lines name. If they name
// none, it is the file's name.
func findSTSJSON(path string) (sets []STSFiles, err error) {
	rows, err := readFields(path)
	if err != nil {
		return nil, err
	}
	base, _ := stsJSONName(path)
	for _, row := range rows {
		record := stsRecord{line: row.line}
		if err := json.Unmarshal([]byte(strings.Join(row.fields, "\t")), &record); err != nil {
			return nil, badinput.Errorf("%s:%d: the line is not an object with sentence1, sentence2 and score: %w", path,
				row.line, err)
		}
		name := cmp.Or(record.Language, base)
		at := slices.IndexFunc(sets, func(s STSFiles) bool { return s.Name == name })
		if at < 0 {
			first, second, crossed := strings.Cut(name, "-")
			if !crossed {
				second = first
			}
			for _, code := range []string{first, second} {
				if _, err := corpus.ParseLanguage(code); err != nil {
					return nil, badinput.Errorf("%s: %w: the lines' lang, or the file's name, must be LANG or LANG-LANG", path, err)
				}
			}
			at, sets = len(sets), append(sets, STSFiles{Year: filepath.Base(filepath.Dir(path)), Name: name, Text: path,
				First: first, Second: second})
		}
		sets[at].records = append(sets[at].records, record)
	}
	return sets, nil
}

// take adds the pairs of records. A pair without a score counts as unscored.
func (s *STSPairs) take(records []stsRecord) error {
	for i, record := range records {
		switch {
		case record.First == nil || record.Second == nil:
			return badinput.Errorf("%s:%d: the line has no sentence1 or no sentence2: correct it", s.Text, record.line)
		case record.Score == nil:
			continue
		}
		if err := checkScore(*record.Score, s.Text, record.line); err != nil {
			return err
		}
		s.keep(i, *record.First, *record.Second, *record.Score)
	}
	s.all(len(records))
	return nil
}
