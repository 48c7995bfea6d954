package table

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// EachPair calls do with the two texts of every row of a Parquet file, in order. A null is an empty text.
func EachPair(ctx context.Context, path, source, target string, do func(source, target string) error) error {
	opts := Options{SourceColumn: source, TargetColumn: target, Columns: []string{source, target}}
	return Each(ctx, []string{path}, opts, func(_ *Reader, b *Batch) error {
		sources, err := b.Texts(source)
		if err != nil {
			return err
		}
		targets, err := b.Texts(target)
		for i := 0; err == nil && i < b.Len(); i++ {
			from, _ := sources(i)
			to, _ := targets(i)
			err = do(from, to)
		}
		return err
	})
}

// AddColumns copies a Parquet file and adds columns at its end, which have a value for each of its rows. A name that a
// column has already is a badinput error.
func AddColumns(ctx context.Context, in, out string, opts Options, rows int, columns ...Values) error {
	added, err := NewBatch(rows, 0, columns...)
	if err != nil {
		return err
	}
	return atomicfile.Write(out, func(f *os.File) (err error) {
		var w *ParquetWriter
		read := 0
		err = Each(ctx, []string{in}, opts, func(r *Reader, b *Batch) error {
			if w == nil {
				w = NewParquetWriter(f, r.Metadata())
			}
			for _, c := range columns {
				if b.Has(c.Name) {
					return badinput.Errorf("%s has a column %q already: give the new ones another beginning with --prefix", in, c.Name)
				}
			}
			from := read
			if read += b.Len(); read > rows {
				return nil
			}
			part := added.Slice(from, read)
			return w.Write(&Batch{b.rows, slices.Concat(b.fields, part.fields), slices.Concat(b.columns, part.columns), b.first, b.numbers})
		})
		if err == nil && (w == nil || read != rows) {
			err = badinput.Errorf("%s has changed since it was read: run again", in)
		}
		if err != nil {
			return err
		}
		return w.Close()
	})
}

// Each calls do with every batch of files, and with their reader.
func Each(ctx context.Context, files []string, opts Options, do func(r *Reader, b *Batch) error) (err error) {
	r, err := Open(files, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		b, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = do(r, b)
		}
		if err != nil {
			return err
		}
	}
}
