package documents

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// maxLine is the maximum length of a line of a ladder: two spans of many thousand sentences.
const maxLine = 1 << 20

// ReadLadder reads a ladder in vecalign's format: [0]:[0, 1] or [0]:[0, 1]:cost on each line, numbers counted from 0.
func ReadLadder(path string) (l Ladder, err error) {
	lines, err := corpus.OpenLines(input.File{Path: path}, maxLine)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, lines.Close()) }()
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			return l, nil
		}
		if err != nil {
			return nil, err
		}
		fields := strings.Split(line.Text, ":")
		source, ok := parse(fields[0])
		if !ok || line.Reason != "" || len(fields) < 2 {
			return nil, notARung(path, line.Number)
		}
		target, ok := parse(fields[1])
		if !ok {
			return nil, notARung(path, line.Number)
		}
		l = append(l, Rung{source, target})
	}
}

func notARung(path string, line uint64) error {
	return badinput.Errorf(
		"%s:%d: a line must be like [0]:[0, 1], the numbers of source and target sentences from 0: correct it",
		path, line)
}

// parse reads a list as Python writes it.
func parse(text string) (numbers []int, ok bool) {
	text = strings.TrimSpace(text)
	inner, found := strings.CutPrefix(text, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	if !found || !closed {
		return nil, false
	}
	if strings.TrimSpace(inner) == "" {
		return nil, true
	}
	for field := range strings.SplitSeq(inner, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || n < 0 {
			return nil, false
		}
		numbers = append(numbers, n)
	}
	return numbers, true
}

// Set is a pair of documents with its gold standard: the files NAME.SRC, NAME.TGT and NAME.SRCTGT.
type Set struct{ Name, Source, Target, Gold string }

// Sets lists the sets of a directory, by name.
func Sets(dir, source, target string) ([]Set, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, badinput.Errorf("directory of gold alignments: %w", err)
	}
	var sets []Set
	for _, e := range entries {
		if name, found := strings.CutSuffix(e.Name(), "."+source+target); found {
			base := filepath.Join(dir, name)
			sets = append(sets, Set{name, base + "." + source, base + "." + target, base + "." + source + target})
		}
	}
	if len(sets) == 0 {
		return nil, badinput.Errorf("%s has no file NAME.%s%s: name another directory, or other languages", dir, source,
			target)
	}
	return sets, nil
}

// PairingFields names the metadata fields of synthetic documents.
var PairingFields = []string{"date", "source"}

// Parameters of the metadata. Most translations have the date of the original, the others one of the next two days.
const (
	sites       = 8
	sameDay     = 0.7
	nextDay     = 0.2
	withoutDate = 0.1 // share of either side's documents, and of those without a source
)

// describe adds metadata to the documents. Documents with common lines belong to one site and follow a day apart, as
// daily reports do. A target document without a partner gets the site and about the dates of its neighbours.
func (m *Pairing) describe(o PairingOptions) {
	rng := rand.New(rand.NewPCG(o.Seed, 29))
	begin := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	values := func(day, site int) []string {
		all := []string{begin.AddDate(0, 0, day).Format(time.DateOnly), fmt.Sprint("site", site)}
		for i := range all {
			if rng.Float64() < withoutDate {
				all[i] = ""
			}
		}
		return all
	}
	others := make([][]string, 0, o.Documents)
	var first, site int
	for d := range o.Documents {
		if d%o.Near == 0 {
			first, site = rng.IntN(365), rng.IntN(sites)
		}
		day := first + d%o.Near
		m.Metadata[0] = append(m.Metadata[0], values(day, site))
		switch late := rng.Float64(); {
		case late >= sameDay+nextDay:
			day += 2
		case late >= sameDay:
			day++
		}
		m.Metadata[1] = append(m.Metadata[1], values(day, site))
		others = append(others, values(first+rng.IntN(o.Near+2), site))
	}
	m.Metadata[1] = append(m.Metadata[1], others...)
}
