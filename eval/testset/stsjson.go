package testset

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// stsRecord is a line of MTEB's JSON-lines layout of an STS set.
type stsRecord struct {
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

// findSTSJSON returns the sets of a file, one for each language or pair of languages that its lines name. If they name
// none, it is the file's name.
func findSTSJSON(path string) (sets []STSFiles, err error) {
	base, _ := stsJSONName(path)
	err = eachSTSRecord(path, func(_ uint64, record stsRecord) error {
		name := record.Language
		if name == "" {
			name = base
		}
		if slices.ContainsFunc(sets, func(s STSFiles) bool { return s.Name == name }) {
			return nil
		}
		first, second, crossed := strings.Cut(name, "-")
		if !crossed {
			second = first
		}
		for _, code := range []string{first, second} {
			if _, err := corpus.ParseLanguage(code); err != nil {
				return badinput.Errorf("%s: %w: the lines' lang, or the file's name, must be LANG or LANG-LANG", path, err)
			}
		}
		sets = append(sets, STSFiles{Year: filepath.Base(filepath.Dir(path)), Name: name, Text: path, First: first,
			Second: second, json: true})
		return nil
	})
	return sets, err
}

// readSTSJSON adds the pairs of the set's languages. A pair without a score counts as unscored.
func (s *STSPairs) readSTSJSON() error {
	return eachSTSRecord(s.Text, func(line uint64, record stsRecord) error {
		switch {
		case record.Language != "" && record.Language != s.Name:
			return nil
		case record.First == nil || record.Second == nil:
			return badinput.Errorf("%s:%d: the line has no sentence1 or no sentence2: correct it", s.Text, line)
		case record.Score == nil:
			s.Unscored++
			return nil
		}
		s.Scores = append(s.Scores, *record.Score)
		s.FirstSide.Texts = append(s.FirstSide.Texts, strip(*record.First))
		s.SecondSide.Texts = append(s.SecondSide.Texts, strip(*record.Second))
		return nil
	})
}

func eachSTSRecord(path string, visit func(line uint64, record stsRecord) error) error {
	rows, err := readFields(path)
	if err != nil {
		return err
	}
	for _, row := range rows {
		var record stsRecord
		if err := json.Unmarshal([]byte(strings.Join(row.fields, "\t")), &record); err != nil {
			return badinput.Errorf("%s:%d: the line is not an object with sentence1, sentence2 and score: %w", path,
				row.line, err)
		}
		if err := visit(row.line, record); err != nil {
			return err
		}
	}
	return nil
}
