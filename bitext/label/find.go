package label

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"

	"bitextmine/bitext/table"
	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// Key reads a pair's keys, SOURCE:TARGET in hexadecimal digits as mine export writes them.
func Key(text string) (Label, error) {
	source, target, found := strings.Cut(strings.ToLower(text), ":")
	if !found || !isKey(source) || !isKey(target) {
		return Label{}, badinput.Errorf(
			"%q are not the keys of a pair: give src_key:tgt_key, each of 32 hexadecimal digits", text)
	}
	return Label{Source: source, Target: target}, nil
}

// Rows returns the pairs that stand in rows of a bitext file, which count from 0; nil means all. They go by the columns
// of keys or, without these, by the keys of their texts.
func Rows(ctx context.Context, file string, rows []uint64) (labels []Label, err error) {
	r, err := table.Open([]string{file}, table.DefaultOptions())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	end := uint64(0)
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		keys, err := Keys(b)
		if err != nil {
			return nil, err
		}
		end = b.First() + uint64(b.Len())
		for i := range b.Len() {
			if rows == nil || slices.Contains(rows, b.First()+uint64(i)) {
				labels = append(labels, keys(i))
			}
		}
	}
	for _, row := range rows {
		if row >= end {
			return nil, badinput.Errorf("%s has %d rows and no row %d: rows count from 0", file, end, row)
		}
	}
	return labels, nil
}

// Keys gives the keys of a batch's rows.
func Keys(b *table.Batch) (func(i int) Label, error) {
	if b.Has("src_key") && b.Has("tgt_key") {
		cells, err := b.Cells()
		if err != nil {
			return nil, err
		}
		var sides [2]*table.Cells
		for c := range cells {
			switch cells[c].Name {
			case "src_key":
				sides[0] = &cells[c]
			case "tgt_key":
				sides[1] = &cells[c]
			}
		}
		return func(i int) Label {
			return Label{Source: string(sides[0].Append(nil, i)), Target: string(sides[1].Append(nil, i))}
		}, nil
	}
	source, err := b.Texts(table.SourceText)
	if err != nil {
		return nil, err
	}
	target, err := b.Texts(table.TargetText)
	if err != nil {
		return nil, err
	}
	key := func(text string) string {
		k := corpus.KeyOf(corpus.Normalise(text))
		return hex.EncodeToString(k[:])
	}
	return func(i int) Label {
		a, _ := source(i)
		b, _ := target(i)
		return Label{Source: key(a), Target: key(b)}
	}, nil
}
