package corpus

import (
	"fmt"
	"strconv"
	"time"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/schema"

	"bitextmine/internal/badinput"
)

// columnKind is the use of a column.
type columnKind int

// The kinds.
const (
	columnText     columnKind = iota // column of strings
	columnID                         // column of strings or integers
	columnMetadata                   // the same, and integers that stand for dates and times are read as such
)

// columnBatch is the number of rows that are decoded at once. Memory holds that many values and one page per column.
const columnBatch = 1024

// textColumn reads one column in step with others.
type textColumn struct {
	Values [][]byte // the batch's values, one per row, valid until the next batch; nil is null

	name   string
	index  int
	maxDef int16
	chunk  file.ColumnChunkReader
	defs   []int16
	bytes  []parquet.ByteArray
	int32s []int32
	int64s []int64
	clock  func(int64) time.Time // meaning of an integer; nil: a number
}

// integer is the text of an integer.
func (c *textColumn) integer(v int64) []byte {
	if c.clock != nil {
		return c.clock(v).UTC().AppendFormat(nil, time.RFC3339)
	}
	return strconv.AppendInt(nil, v, 10)
}

// clockOf returns the reader of integers of a logical type as times; nil if the type is not a time.
func clockOf(t schema.LogicalType) func(int64) time.Time {
	switch t := t.(type) {
	case schema.DateLogicalType, *schema.DateLogicalType:
		return func(days int64) time.Time { return time.Unix(days*24*60*60, 0) }
	case *schema.TimestampLogicalType:
		switch t.TimeUnit() {
		case schema.TimeUnitMillis:
			return time.UnixMilli
		case schema.TimeUnitMicros:
			return time.UnixMicro
		case schema.TimeUnitNanos:
			return func(ns int64) time.Time { return time.Unix(0, ns) }
		}
	}
	return nil
}

// findColumn finds a column of a file by its name; if there is none, it returns the names of those that there are.
func findColumn(path string, f *file.Reader, name string,
	as columnKind) (found *textColumn, names []string, err error) {
	sc := f.MetaData().Schema
	for i := range sc.NumColumns() {
		c := sc.Column(i)
		if whole := c.ColumnPath()[0]; c.MaxRepetitionLevel() > 0 { // element of a list
			if whole == name {
				return nil, nil, badinput.Errorf("%s: column %q has lists, not strings; write the file with a row for each of their elements",
					path, name)
			}
			names = append(names, whole+" (lists)")
			continue
		}
		names = append(names, c.Path())
		if c.Path() != name {
			continue
		}
		t := c.PhysicalType()
		isInteger := t == parquet.Types.Int32 || t == parquet.Types.Int64
		if t != parquet.Types.ByteArray && (as == columnText || !isInteger) {
			return nil, nil, badinput.Errorf("%s: column %q is of type %s, not a string; name a column of strings",
				path, name, t)
		}
		found := &textColumn{name: name, index: i, maxDef: c.MaxDefinitionLevel(), defs: make([]int16, columnBatch),
			Values: make([][]byte, columnBatch)}
		if as == columnMetadata {
			found.clock = clockOf(c.LogicalType())
		}
		return found, nil, nil
	}
	return nil, names, nil
}

// Open begins a row group of the file.
func (c *textColumn) Open(path string, rows *file.RowGroupReader) error {
	meta, err := rows.MetaData().ColumnChunk(c.index)
	if err != nil {
		return err
	}
	if _, err := compress.GetCodec(meta.Compression()); err != nil {
		return badinput.Errorf(
			"%s: its column %q is compressed with %s, which is not read; write it again with zstd, snappy, gzip, brotli or LZ4_RAW",
			path, c.name, meta.Compression())
	}
	c.chunk, err = rows.Column(c.index)
	return err
}

// Read decodes the next n rows of the row group, columnBatch at most, into Values.
func (c *textColumn) Read(n int) error {
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
		value = func(i int) []byte { return c.integer(int64(c.int32s[i])) }
	case *file.Int64ColumnChunkReader:
		c.int64s = grown(c.int64s)
		levels, found, err = chunk.ReadBatch(int64(n), c.int64s, c.defs, nil)
		value = func(i int) []byte { return c.integer(c.int64s[i]) }
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
func (c *textColumn) place(n, found int, value func(i int) []byte) error {
	next := 0
	for i := range n {
		c.Values[i] = nil
		if c.maxDef > 0 && c.defs[i] < c.maxDef {
			continue
		}
		if next == found {
			return fmt.Errorf("column %q has fewer values than rows", c.name)
		}
		c.Values[i] = value(next)
		next++
	}
	return nil
}

func grown[T any](s []T) []T {
	if s == nil {
		return make([]T, columnBatch)
	}
	return s
}
