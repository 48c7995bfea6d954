package exporting

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"math"

	"bitextmine/bitext/table"
	"bitextmine/internal/badinput"
)

// Split divides pairs by source document into a training set and two smaller ones. Which set a document is in depends
// on its name alone: not on the other documents, nor on the order of the rows. With another share a set gives documents
// to the training set or takes some from it, and the other small set stays as it is.
type Split struct {
	Dev, Test float64 // shares of the documents
	By        string  // column that names the document; empty: src_doc, or src_url, or the source text
	Documents bool    // rows are of documents, and names that are all different are theirs, too
}

// Validate reports shares that cannot be.
func (s *Split) Validate() error {
	if s.Dev < 0 || s.Test < 0 || s.Dev+s.Test >= 1 || math.IsNaN(s.Dev+s.Test) {
		return badinput.Errorf("--dev is %v and --test %v: give shares from 0 whose sum is below 1", s.Dev, s.Test)
	}
	return nil
}

// names gives the names in a column of texts or numbers by row; empty: none.
func names(b *table.Batch, column string) (func(i int) string, error) {
	texts, err := b.Texts(column)
	if err == nil {
		return func(i int) string { text, _ := texts(i); return text }, nil
	}
	alone, missing := b.Only([]string{column})
	if missing != nil {
		return nil, missing
	}
	cells, _ := alone.Cells()
	if len(cells) == 0 || cells[0].Kind != table.Number {
		return nil, err
	}
	return func(i int) string {
		if cells[0].Null(i) {
			return ""
		}
		return string(cells[0].Append(nil, i))
	}, nil
}

// column is the column that names documents: the first one of whose names one stands in several of the first rows.
// Names that are all different are of sentences, unless rows are of documents. passed is the first column whose names
// are; empty: none.
func (s *Split) column(first *table.Batch, sourceText string) (column, passed string, err error) {
	if s.By != "" {
		_, err := names(first, s.By)
		return s.By, "", err
	}
	for _, name := range []string{"src_doc", "src_url"} {
		of, err := names(first, name)
		if err != nil {
			continue // there is no such column, or one of lists
		}
		seen := map[string]bool{}
		for i := range first.Len() {
			text := of(i)
			if text == "" {
				continue
			}
			if s.Documents || seen[text] {
				return name, passed, nil
			}
			seen[text] = true
		}
		if len(seen) > 0 {
			passed = cmp.Or(passed, name)
		}
	}
	return sourceText, passed, nil
}

// The numbers of the sets.
const (
	train = iota
	dev
	test
)

// divide lists the rows of each set. A row whose document has no name is in the training set.
func (s *Split) divide(b *table.Batch, by string, rows []int) ([][]int, error) {
	of, err := names(b, by)
	if err != nil {
		return nil, err
	}
	parts := make([][]int, test+1)
	for _, row := range rows {
		to := train
		if name := of(row); name != "" {
			to = s.setOf(name)
		}
		parts[to] = append(parts[to], row)
	}
	return parts, nil
}

func (s *Split) setOf(document string) int {
	digest := sha256.Sum256([]byte(document))
	at := float64(binary.BigEndian.Uint64(digest[:])>>11) / (1 << 53)
	switch {
	case at < s.Test:
		return test
	case at >= 1-s.Dev:
		return dev
	}
	return train
}
