package exchange

import (
	"bufio"
	"bytes"
	stdcsv "encoding/csv"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"bitextmine/corpus"
	"bitextmine/corpus/csv"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// csvReader reads comma-separated values: one pair a record.
type csvReader struct {
	*csv.File
	row    row
	header bool
	first  [][]byte // a first record that is a pair
	number uint64
}

func openCSV(in input.File, opts Options) (_ *csvReader, err error) {
	f, err := csv.Open(in, MaxLineBytes)
	if err != nil {
		return nil, err
	}
	r, columns := &csvReader{File: f}, f.Header()
	switch {
	case opts.Layout == nil:
		_, _, _, known := opts.named(columns)
		opts.MustName = opts.MustName || len(columns) > 2 && !known // most files have a header
		r.row, r.header, err = opts.row(columns, "comma-separated", in.Path, 1)
	case len(columns) != len(opts.Layout.Columns):
		err = badinput.Errorf("%s: its first record has %d fields, but %d columns are named: correct columns of its source",
			in.Path, len(columns), len(opts.Layout.Columns))
	case opts.Layout.unsaid(columns):
		err = unsaidHeader(in.Path)
	default:
		r.row, r.header = opts.Layout.row(opts), opts.Layout.Header
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if !r.header {
		for _, field := range columns {
			r.first = append(r.first, []byte(field))
		}
	}
	return r, nil
}

// fields returns the next record's, which are valid until the next call.
func (r *csvReader) fields() (csv.Record, error) {
	if first := r.first; first != nil {
		r.first = nil
		return csv.Record{Fields: first}, nil
	}
	return r.File.Next()
}

// Next implements Reader. Records count, not lines; the header is the first.
func (r *csvReader) Next() (Record, error) {
	got, err := r.fields()
	if err != nil {
		return Record{}, err
	}
	if r.number++; r.header && r.number == 1 {
		r.number++
	}
	rec := Record{Number: r.number}
	switch {
	case got.Excess > 0:
		rec.Reason, rec.Detail = corpus.ReasonTooLong, fmt.Sprintf("%d bytes", got.Excess)
	case got.Malformed != "":
		rec.Reason, rec.Detail = corpus.ReasonMalformed, got.Malformed
	case !utf8.Valid(bytes.Join(got.Fields, nil)):
		rec.Reason, rec.Detail = corpus.ReasonNotUTF8, "save the file as UTF-8"
	case len(bytes.TrimSpace(bytes.Join(got.Fields, nil))) == 0:
		rec.Reason = corpus.ReasonEmpty
	default:
		for i, field := range got.Fields {
			if !r.row.take(i, string(field), &rec) {
				break
			}
		}
	}
	return rec, nil
}

// writeCSV writes the records with further fields.
func (f *File) writeCSV(out *bufio.Writer, names []string, values Values) (err error) {
	r, err := openCSV(f.inputs[0], f.opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	separator, said := r.Separator()
	if said {
		fmt.Fprintf(out, "sep=%c\n", separator)
	}
	w := stdcsv.NewWriter(out)
	w.Comma = rune(separator)
	if r.header {
		if err := w.Write(append(r.Header(), names...)); err != nil {
			return err
		}
	}
	for i := 0; ; i++ {
		got, err := r.fields()
		if errors.Is(err, io.EOF) {
			w.Flush()
			return errors.Join(w.Error(), f.all(i))
		}
		if err != nil {
			return err
		}
		if i >= f.Pairs {
			return f.all(i + 1)
		}
		fields := make([]string, f.width+len(names))
		for j, field := range got.Fields {
			fields[j] = string(field)
		}
		copy(fields[f.width:], values(i))
		if err := w.Write(fields); err != nil {
			return err
		}
	}
}
