package corpus

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

var parquetMagic = []byte("PAR1")

// parquetBatch is the number of rows that are decoded at once. Memory holds that many values and one page per column.
const parquetBatch = 1024

// parquetDecoder reads named columns of a Parquet file: strings and byte arrays of any length type, plain or
// dictionary-encoded, and also integers as document ids. Other columns are not read.
type parquetDecoder struct {
	src     *input.Source
	file    *file.Reader
	columns [3]*parquetColumn // text, doc, url; nil if not read
	group   int               // the next row group
	left    int64             // rows of the current group not yet in a batch
	batch   int               // rows in the batch
	at      int               // index of the next row in the batch
	row     uint64            // number of rows returned
}

func newParquetDecoder(src *input.Source, opts Options) (*parquetDecoder, error) {
	if src.Size == 0 {
		return nil, io.EOF
	}
	d := &parquetDecoder{src: src}
	err := d.guard(func() (err error) {
		d.file, err = src.Parquet()
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, name := range []string{opts.TextColumn, opts.DocColumn, opts.URLColumn} {
		if name == "" {
			continue
		}
		if d.columns[i], err = newParquetColumn(src.Name, d.file, opts, name, i > 0); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// guard calls the Parquet library.
func (d *parquetDecoder) guard(call func() error) error {
	return d.src.Guard("the Parquet data", call)
}

func (d *parquetDecoder) lines() uint64 { return d.row }

func (d *parquetDecoder) next(rec *record) error {
	for d.at == d.batch {
		if err := d.guard(d.readBatch); err != nil {
			return err
		}
		if d.batch == 0 && d.group >= d.file.NumRowGroups() {
			return io.EOF
		}
	}
	d.row++
	*rec = record{line: d.row, text: d.columns[0].values[d.at]}
	if c := d.columns[1]; c != nil {
		rec.doc = c.values[d.at]
	}
	if c := d.columns[2]; c != nil {
		rec.url = c.values[d.at]
	}
	d.at++
	return nil
}

// readBatch decodes the next rows of the current row group or of the next one.
func (d *parquetDecoder) readBatch() error {
	d.at, d.batch = 0, 0
	if d.left == 0 {
		if d.group >= d.file.NumRowGroups() {
			return nil
		}
		rows := d.file.RowGroup(d.group)
		d.group++
		if d.left = rows.NumRows(); d.left < 0 {
			return errors.New("a row group has a negative number of rows")
		}
		for _, c := range d.columns {
			if c == nil {
				continue
			}
			if err := c.open(d.src.Name, rows); err != nil {
				return err
			}
		}
	}
	n := int(min(d.left, parquetBatch))
	for _, c := range d.columns {
		if c == nil {
			continue
		}
		if err := c.read(n); err != nil {
			return err
		}
	}
	d.left -= int64(n)
	d.batch = n
	return nil
}

// parquetColumn reads one column in step with the others.
type parquetColumn struct {
	name   string
	index  int
	maxDef int16
	chunk  file.ColumnChunkReader
	defs   []int16
	bytes  []parquet.ByteArray
	int32s []int32
	int64s []int64
	values [][]byte // of the batch, one per row; nil is null
}

func newParquetColumn(path string, f *file.Reader, opts Options, name string, integers bool) (*parquetColumn, error) {
	var names []string
	sc := f.MetaData().Schema
	for i := range sc.NumColumns() {
		c := sc.Column(i)
		if c.MaxRepetitionLevel() > 0 {
			continue
		}
		names = append(names, c.Path())
		if c.Path() != name {
			continue
		}
		t := c.PhysicalType()
		isInteger := t == parquet.Types.Int32 || t == parquet.Types.Int64
		if t != parquet.Types.ByteArray && (!integers || !isInteger) {
			return nil, badinput.Errorf("%s: column %q is of type %s, not a string; name a column of strings", path, name, t)
		}
		return &parquetColumn{name: name, index: i, maxDef: c.MaxDefinitionLevel(),
			defs: make([]int16, parquetBatch), values: make([][]byte, parquetBatch)}, nil
	}
	return nil, opts.noColumn(path, name, names)
}

func (c *parquetColumn) open(path string, rows *file.RowGroupReader) error {
	meta, err := rows.MetaData().ColumnChunk(c.index)
	if err != nil {
		return err
	}
	if _, err := compress.GetCodec(meta.Compression()); err != nil {
		return badinput.Errorf("%s: its column %q is compressed with %s, which is not read; write it again with zstd, snappy, gzip, brotli or LZ4_RAW",
			path, c.name, meta.Compression())
	}
	c.chunk, err = rows.Column(c.index)
	return err
}

// read decodes the column's next n rows into values.
func (c *parquetColumn) read(n int) error {
	var levels int64
	var found int
	var err error
	var value func(i int) []byte
	switch chunk := c.chunk.(type) {
	case *file.ByteArrayColumnChunkReader:
		c.bytes = grown(c.bytes)
		levels, found, err = chunk.ReadBatch(int64(n), c.bytes, c.defs, nil)
		value = func(i int) []byte { return c.bytes[i] }
	case *file.Int32ColumnChunkReader:
		c.int32s = grown(c.int32s)
		levels, found, err = chunk.ReadBatch(int64(n), c.int32s, c.defs, nil)
		value = func(i int) []byte { return strconv.AppendInt(nil, int64(c.int32s[i]), 10) }
	case *file.Int64ColumnChunkReader:
		c.int64s = grown(c.int64s)
		levels, found, err = chunk.ReadBatch(int64(n), c.int64s, c.defs, nil)
		value = func(i int) []byte { return strconv.AppendInt(nil, c.int64s[i], 10) }
	default:
		return fmt.Errorf("column %q: unexpected type %T", c.name, c.chunk)
	}
	if err == nil {
		err = c.chunk.Err()
	}
	if err != nil {
		return fmt.Errorf("column %q: %w", c.name, err)
	}
	if levels != int64(n) {
		return fmt.Errorf("column %q ends before its row group", c.name)
	}
	return c.place(n, found, value)
}

// place assigns the values to rows: the library returns the non-null values without gaps.
func (c *parquetColumn) place(n, found int, value func(i int) []byte) error {
	next := 0
	for i := range n {
		c.values[i] = nil
		if c.maxDef > 0 && c.defs[i] < c.maxDef {
			continue
		}
		if next == found {
			return fmt.Errorf("column %q has fewer values than rows", c.name)
		}
		c.values[i] = value(next)
		next++
	}
	return nil
}

func grown[T any](s []T) []T {
	if s == nil {
		return make([]T, parquetBatch)
	}
	return s
}
