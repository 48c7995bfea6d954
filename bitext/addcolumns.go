package bitext

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Column is a column to add to a table: float32 or uint8 values, one per row. A cell is null where Valid is false.
type Column struct {
	Name    string
	Float32 []float32
	Uint8   []uint8
	Valid   []bool
}

// ReadTexts reads two text columns of a Parquet file. A null becomes an empty text.
func ReadTexts(ctx context.Context, path, source, target string) (sources, targets []string, err error) {
	table, f, err := readTable(ctx, path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	err = Guard(func() (err error) {
		if sources, err = textColumn(table, path, source); err != nil {
			return err
		}
		targets, err = textColumn(table, path, target)
		return err
	})
	return sources, targets, err
}

// AddColumns copies a Parquet file and adds columns at its end. The existing columns stay. A column name that exists
// already is a badinput error.
func AddColumns(ctx context.Context, in, out string, columns []Column) (err error) {
	table, source, err := readTable(ctx, in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	fields, cells := table.Schema().Fields(), make([]arrow.Column, 0, int(table.NumCols())+len(columns))
	for i := range int(table.NumCols()) {
		cells = append(cells, *table.Column(i))
	}
	for _, c := range columns {
		if table.Schema().HasField(c.Name) {
			return badinput.Errorf("%s has a column %q already: give the new ones another beginning with --prefix", in,
				c.Name)
		}
		values, err := c.array(int(table.NumRows()))
		if err != nil {
			return err
		}
		field := arrow.Field{Name: c.Name, Type: values.DataType(), Nullable: true}
		fields = append(fields, field)
		cells = append(cells, *arrow.NewColumn(field, arrow.NewChunked(values.DataType(), []arrow.Array{values})))
	}
	wider := array.NewTable(arrow.NewSchema(fields, nil), cells, table.NumRows())
	said := source.MetaData().KeyValueMetadata()
	return atomicfile.Write(out, func(f *os.File) error { return writeTable(f, wider, said) })
}

func (c Column) array(rows int) (arrow.Array, error) {
	if len(c.Valid) != rows || len(c.Float32)+len(c.Uint8) != rows {
		return nil, fmt.Errorf("column %s has %d values for %d rows", c.Name, len(c.Float32)+len(c.Uint8), rows)
	}
	if c.Uint8 != nil {
		b := array.NewUint8Builder(memory.DefaultAllocator)
		b.AppendValues(c.Uint8, c.Valid)
		return b.NewArray(), nil
	}
	b := array.NewFloat32Builder(memory.DefaultAllocator)
	b.AppendValues(c.Float32, c.Valid)
	return b.NewArray(), nil
}

// readTable reads a whole Parquet file. Its values are valid until the file is closed.
func readTable(ctx context.Context, path string) (arrow.Table, *file.Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, badinput.Errorf("Parquet file %s cannot be opened: %w", path, err)
	}
	var table arrow.Table
	var parquetFile *file.Reader
	err = Guard(func() (err error) {
		if parquetFile, err = file.NewParquetReader(f); err != nil {
			return err
		}
		info, err := f.Stat()
		if err != nil {
			return err
		}
		table, err = decodeTable(ctx, parquetFile, info.Size())
		return err
	})
	switch {
	case ctx.Err() != nil:
		return nil, nil, errors.Join(ctx.Err(), f.Close())
	case err != nil:
		return nil, nil, errors.Join(badinput.Errorf("%s is not Parquet or is damaged (%w): give another file", path,
			err), f.Close())
	}
	return table, parquetFile, nil
}

func decodeTable(ctx context.Context, f *file.Reader, size int64) (arrow.Table, error) {
	reader, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{},
		NewAllocator(parquet.DefaultMaxChunkSize(size)))
	if err != nil {
		return nil, err
	}
	table, err := reader.ReadTable(ctx)
	if err != nil {
		return nil, err
	}
	for i := range int(table.NumCols()) {
		if n := table.Column(i).Len(); int64(n) != f.NumRows() {
			return nil, fmt.Errorf("column %s has %d values for %d rows", table.Schema().Field(i).Name, n, f.NumRows())
		}
	}
	return table, nil
}

func textColumn(table arrow.Table, path, name string) ([]string, error) {
	at := table.Schema().FieldIndices(name)
	if len(at) != 1 {
		return nil, badinput.Errorf("%s has no column %q: name its text columns with --src-column and --tgt-column",
			path, name)
	}
	out := make([]string, 0, table.NumRows())
	for _, chunk := range table.Column(at[0]).Data().Chunks() {
		text, err := textOf(chunk)
		if err != nil {
			return nil, badinput.Errorf("%s: the column %q holds %s, not text: name another", path, name,
				chunk.DataType())
		}
		for i := range chunk.Len() {
			if chunk.IsNull(i) {
				out = append(out, "")
			} else {
				out = append(out, text(i))
			}
		}
	}
	return out, nil
}

func textOf(chunk arrow.Array) (func(i int) string, error) {
	switch a := chunk.(type) {
	case *array.String:
		return a.Value, nil
	case *array.LargeString:
		return a.Value, nil
	case *array.Dictionary:
		words, err := textOf(a.Dictionary())
		return func(i int) string { return words(a.GetValueIndex(i)) }, err
	}
	return nil, errors.New("no text")
}

// arrowSchema is the key of the metadata entry that pqarrow writes itself.
const arrowSchema = "ARROW:schema"

func writeTable(w io.Writer, table arrow.Table, said metadata.KeyValueMetadata) error {
	properties := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithMaxRowGroupLength(RowGroup))
	out, err := NewFileWriter(w, table.Schema(), properties)
	if err != nil {
		return fmt.Errorf("start the copy: %w", err)
	}
	for i, key := range said.Keys() {
		if key != arrowSchema {
			if err := out.AppendKeyValueMetadata(key, said.Values()[i]); err != nil {
				return fmt.Errorf("copy the metadata: %w", err)
			}
		}
	}
	if err := out.WriteTable(table, RowGroup); err != nil {
		return errors.Join(fmt.Errorf("copy the columns: %w", err), out.Close())
	}
	return out.Close()
}
