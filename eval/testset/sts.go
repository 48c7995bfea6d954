// Package testset reads the published test sets of the protocols: BUCC's halves, line-aligned files (Tatoeba, FLORES,
// NTREX), STS sets, gold pairs and the negatives of xsim++. It also makes negatives by rules.
package testset

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// STSFiles names a set of sentence pairs with gold scores in one of the published layouts.
type STSFiles struct {
	Year, Name    string
	Text, Gold    string // Gold is empty if the scores are in Text
	First, Second string // languages
	textColumns   [2]int // column numbers in Text, which is tab-separated
	goldColumn    int
	header        bool
	records       []stsRecord // the lines of MTEB's layout, which are read when they are found
}

// STSPairs is the pairs of a set. Pairs without a gold score are left out, as in SemEval.
type STSPairs struct {
	STSFiles
	FirstSide, SecondSide Side
	Scores                []float64
	Unscored              int // pairs without a gold score, left out
}

var stsTrack = regexp.MustCompile(`^STS\.input\.(track[0-9a-z]+)\.([a-z]+)-([a-z]+)\.txt$`)

// FindSTS finds all sets under dir: YEAR/NAME.test.tsv (SemEval 2012-2016: score, two sentences),
// STS.input.TRACK.a-b.txt with STS.gs.TRACK.a-b.txt beside it (2017), STS benchmark's sts-test.csv,
// SICK_test_annotated.txt, and YEAR/*.jsonl of MTEB (STS17, STS22).
func FindSTS(dir string) ([]STSFiles, error) {
	var sets []STSFiles
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, badinput.Errorf("%s is no directory: name that of the STS sets with --dir", dir)
	}
	err := filepath.WalkDir(dir+string(filepath.Separator), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := entry.Name()
		if _, found := stsJSONName(name); found && !isPacked(path) {
			found, err := findSTSJSON(path)
			sets = append(sets, found...)
			return err
		}
		switch track := stsTrack.FindStringSubmatch(name); {
		case track != nil:
			gold := filepath.Join(filepath.Dir(path), strings.Replace(name, ".input.", ".gs.", 1))
			sets = append(sets, STSFiles{Year: "2017", Name: track[1] + "." + track[2] + "-" + track[3], Text: path,
				Gold:  gold,
				First: track[2], Second: track[3], textColumns: [2]int{0, 1}})
		case name == "SICK_test_annotated.txt":
			sets = append(sets, STSFiles{Year: "SICK", Name: "test", Text: path, First: "en", Second: "en",
				textColumns: [2]int{1, 2}, goldColumn: 3, header: true})
		case name == "sts-test.csv":
			sets = append(sets, STSFiles{Year: "STSb", Name: "test", Text: path, First: "en", Second: "en",
				textColumns: [2]int{5, 6}, goldColumn: 4})
		case strings.HasSuffix(name, ".test.tsv"):
			sets = append(sets, STSFiles{Year: filepath.Base(filepath.Dir(path)),
				Name: strings.TrimSuffix(name, ".test.tsv"), Text: path,
				First: "en", Second: "en", textColumns: [2]int{1, 2}})
		}
		return nil
	})
	if err != nil {
		return nil, badinput.Errorf("look for STS sets: %w", err)
	}
	if len(sets) == 0 {
		return nil, badinput.Errorf(
			"%s has no STS set: it needs YEAR/NAME.test.tsv, STS.input.*.txt with STS.gs.*.txt, sts-test.csv, SICK_test_annotated.txt, or YEAR/*.jsonl",
			dir)
	}
	slices.SortFunc(sets, func(a, b STSFiles) int {
		return cmp.Or(strings.Compare(a.Year, b.Year), strings.Compare(a.Name, b.Name))
	})
	return sets, nil
}

// ReadSTS reads a set.
func ReadSTS(files STSFiles) (STSPairs, error) {
	set := STSPairs{STSFiles: files, FirstSide: Side{Language: files.First}, SecondSide: Side{Language: files.Second}}
	if err := set.read(); err != nil {
		return set, err
	}
	if len(set.Scores) == 0 {
		return set, badinput.Errorf("%s: no pair has a gold score", files.Text)
	}
	return set, nil
}

// read adds the pairs of the set's files.
func (s *STSPairs) read() error {
	if s.records != nil {
		return s.take(s.records)
	}
	rows, err := readFields(s.Text)
	if err != nil {
		return err
	}
	if s.header {
		rows = rows[1:]
	}
	if s.Gold == "" {
		return s.addAll(rows, rows, s.Text)
	}
	golds, err := readFields(s.Gold)
	if err != nil {
		return err
	}
	if len(golds) != len(rows) && !(strings.HasPrefix(s.Name, halfScored) && len(golds) == scoredPairs && len(rows) > scoredPairs) {
		return badinput.Errorf("%s has %d pairs but %s has %d scores, so that scores would be of other pairs: take both from the same release",
			s.Text, len(rows), s.Gold, len(golds))
	}
	return s.addAll(rows, golds, s.Gold)
}

// SemEval published 500 pairs for track 6 of 2017 but scored only the first 250.
const (
	halfScored  = "track6."
	scoredPairs = 250
)

// addAll adds the pairs of rows; pairs beyond those of golds have no score.
func (s *STSPairs) addAll(rows, golds []fieldsAt, goldFile string) error {
	for i, row := range rows[:len(golds)] {
		if err := s.add(i, row, golds[i], goldFile); err != nil {
			return err
		}
	}
	s.all(len(rows))
	return nil
}

// all notes the number of pairs with those that have no score.
func (s *STSPairs) all(pairs int) {
	s.Unscored = pairs - len(s.Scores)
	s.FirstSide.Lines, s.SecondSide.Lines = pairs, pairs
}

// keep adds a pair with a score, which is the pair at of the set's.
func (s *STSPairs) keep(at int, first, second string, score float64) {
	s.Scores = append(s.Scores, score)
	for side, text := range map[*Side]string{&s.FirstSide: first, &s.SecondSide: second} {
		side.Texts, side.At = append(side.Texts, strip(text)), append(side.At, int32(at))
	}
}

// checkScore refuses a score that no published set has: all are from 0 to 5.
func checkScore(score float64, file string, line uint64) error {
	if score >= 0 && score <= 5 { // a NaN is neither
		return nil
	}
	return badinput.Errorf("%s:%d: the gold score %v is not from 0 to 5: correct the line", file, line, score)
}

func (s *STSPairs) add(at int, row, scored fieldsAt, goldFile string) error {
	if len(scored.fields) <= s.goldColumn || len(row.fields) <= s.textColumns[1] {
		return badinput.Errorf("%s:%d: the line has %d tab-separated fields, too few for two sentences and their score",
			s.Text, row.line, len(row.fields))
	}
	gold := strings.TrimSpace(scored.fields[s.goldColumn])
	if gold == "" {
		return nil
	}
	score, err := strconv.ParseFloat(gold, 64)
	if err != nil {
		return badinput.Errorf("%s:%d: the gold score %q is not a number: correct the line", goldFile, scored.line,
			gold)
	}
	if err := checkScore(score, goldFile, scored.line); err != nil {
		return err
	}
	s.keep(at, row.fields[s.textColumns[0]], row.fields[s.textColumns[1]], score)
	return nil
}

// fieldsAt is the tab-separated fields of a line.
type fieldsAt struct {
	line   uint64
	fields []string
}

// readFields reads the lines of a file that are not blank.
func readFields(path string) (rows []fieldsAt, err error) {
	opts := corpus.DefaultOptions()
	opts.Format, opts.OnBadLine, opts.MaxLineBytes = corpus.FormatText, corpus.FailBadLine, corpus.MaxRecordBytes
	for s, err := range corpus.Sentences(input.File{Path: path}, opts) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, fieldsAt{s.Line, strings.Split(s.Text, "\t")})
	}
	return rows, nil
}
