// Package exchange reads and writes bitext in the formats that programs exchange it in: TSV, TMX, JSON lines, and two
// line-aligned files (as Moses has them).
//
// A Reader gives one pair at a time, in memory that does not grow with the file, whatever the file claims of itself:
// lines and TMX units have a maximum length, and elements of XML a maximum depth. Any file may be compressed. A File is
// all pairs of a file, to be written again with columns added and nothing left out. ReadKnown reads pairs that are
// known to be translations.
package exchange

import (
	"errors"
	"io"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
)

// File is the pairs of a file, and what is needed to write it again with columns added and nothing left out. A pair of
// which a text is missing is there with an empty text.
type File struct {
	Sources, Targets []string

	inputs [2]input.File // the second is for line-aligned files
	format Format
	header bool    // the first line of a TSV names the columns
	width  int     // column count of a TSV
	units  []int64 // offsets of the children of each TMX unit
}

// Load reads a file of a format. A line that is not a pair, other than one without text, is a badinput error.
func Load(in input.File, format Format, opts Options) (*File, error) {
	r, err := Open(in, format, opts)
	if err != nil {
		return nil, err
	}
	f := &File{inputs: [2]input.File{in}, format: format}
	if err := f.read(r); err != nil {
		return nil, err
	}
	if t, ok := r.(*tsvReader); ok {
		f.header, f.width = t.header, t.row.width
	}
	return f, nil
}

// aligned is the format of two files in a File, which is written as TSV.
const aligned Format = "aligned"

// LoadAligned reads two line-aligned files.
func LoadAligned(source, target input.File) (*File, error) {
	r, err := OpenAligned(source, target)
	if err != nil {
		return nil, err
	}
	f := &File{inputs: [2]input.File{source, target}, format: aligned}
	return f, f.read(r)
}

// read reads r to its end and closes it.
func (f *File) read(r Reader) (err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if t, ok := r.(*tmxReader); ok {
			f.units = append(f.units, t.at)
		} else if rec.Reason != "" && rec.Reason != corpus.ReasonEmpty {
			return refuse(f.inputs[0].Path, rec)
		}
		f.Sources, f.Targets = append(f.Sources, rec.Source), append(f.Targets, rec.Target)
	}
}

// Values returns the added columns of pair i, in order, or nil if it has none. A value that is empty is left out where
// the format can.
type Values func(i int) []string
