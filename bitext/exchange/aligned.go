package exchange

import (
	"errors"
	"io"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// alignedReader reads two files of which line n of the one is the translation of line n of the other.
type alignedReader struct {
	names [2]string
	lines [2]*corpus.LineFile
	read  uint64
}

// OpenAligned opens two line-aligned files. They must have the same number of lines; a line may be empty.
func OpenAligned(source, target input.File) (Reader, error) {
	a, err := corpus.OpenLines(source, maxLineBytes)
	if err != nil {
		return nil, err
	}
	b, err := corpus.OpenLines(target, maxLineBytes)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return &alignedReader{names: [2]string{source.Path, target.Path}, lines: [2]*corpus.LineFile{a, b}}, nil
}

// Next implements Reader.
func (r *alignedReader) Next() (Record, error) {
	rec := Record{Number: r.read + 1}
	var ended [2]bool
	for side, text := range []*string{&rec.Source, &rec.Target} {
		line, err := r.lines[side].Next()
		if ended[side] = errors.Is(err, io.EOF); err != nil && !ended[side] {
			return Record{}, err
		}
		if line.Reason != "" {
			rec.Reason, rec.Detail = line.Reason, r.names[side]+": "+line.Detail
		}
		if !isBlank(line.Text) {
			*text = line.Text
		}
	}
	switch {
	case ended[0] && ended[1]:
		return Record{}, io.EOF
	case ended[0] || ended[1]:
		return Record{}, r.uneven(ended)
	}
	r.read++
	if rec.Reason == "" && rec.Source == "" && rec.Target == "" {
		rec.Reason = corpus.ReasonEmpty
	}
	return rec, nil
}

// uneven counts the lines of the longer file, of which one more than of the other is read.
func (r *alignedReader) uneven(ended [2]bool) error {
	counts := [2]uint64{r.read, r.read}
	for side := range r.lines {
		if ended[side] {
			continue
		}
		counts[side]++
		for {
			if _, err := r.lines[side].Next(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return err
			}
			counts[side]++
		}
	}
	return badinput.Errorf(
		"%s has %d lines but %s has %d: line n of the one must be the translation of line n of the other",
		r.names[0], counts[0], r.names[1], counts[1])
}

// Close implements Reader.
func (r *alignedReader) Close() error { return errors.Join(r.lines[0].Close(), r.lines[1].Close()) }
