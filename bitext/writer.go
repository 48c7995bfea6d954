package bitext

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"bitextmine/corpus"
)

// RowGroup is the number of rows in a row group, and so the number that a Writer holds in memory.
const RowGroup = 64 << 10

// Writer writes a bitext file. It is not safe for concurrent use.
type Writer struct {
	file    *FileWriter
	builder *array.RecordBuilder
	meta    Metadata
	pending int
}

// NewWriter starts a bitext file on w. Close finishes the file but does not close w.
func NewWriter(w io.Writer, meta Metadata) (*Writer, error) {
	schema := Schema(meta)
	properties := parquet.NewWriterProperties(parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithMaxRowGroupLength(RowGroup), parquet.WithCreatedBy("mine"),
		// A chunk whose dictionary exceeds the limit continues in plain encoding, and the library then lists the
		// chunk's encodings in the order of a Go map, so the same rows would give different bytes. Therefore no
		// dictionary may exceed its limit: columns with distinct values have no dictionary, and the others have no
		// limit except the size of the row group.
		parquet.WithDictionaryPageSizeLimit(math.MaxInt32), parquet.WithDictionaryFor("src_text", false),
		parquet.WithDictionaryFor("tgt_text", false),
		// Keys are random, so a dictionary of keys would only cost space.
		parquet.WithDictionaryFor("src_key", false), parquet.WithDictionaryFor("tgt_key", false))
	file, err := NewFileWriter(w, schema, properties)
	if err != nil {
		return nil, fmt.Errorf("start bitext file: %w", err)
	}
	for _, pair := range meta.pairs() {
		if err := file.AppendKeyValueMetadata(metadataPrefix+pair[0], pair[1]); err != nil {
			return nil, fmt.Errorf("write bitext metadata: %w", err)
		}
	}
	return &Writer{file: file, meta: meta, builder: array.NewRecordBuilder(memory.DefaultAllocator, schema)}, nil
}

// Append adds a row.
func (w *Writer) Append(row Row) error {
	columns := columns{builder: w.builder}
	columns.string(row.Source.Text)
	columns.string(row.Target.Text)
	columns.dictionary(row.Source.Lang)
	columns.dictionary(row.Target.Lang)
	columns.float(row.Score)
	columns.optional(row.Prob)
	columns.float(row.Cosine)
	columns.float(row.SourceMean)
	columns.float(row.TargetMean)
	columns.next().(*array.Uint8Builder).Append(row.SourceRank)
	columns.next().(*array.Uint8Builder).Append(row.TargetRank)
	columns.side(row.Source)
	columns.side(row.Target)
	columns.identified(row.Source)
	columns.identified(row.Target)
	columns.next().(*array.BooleanBuilder).Append(row.Keep)
	columns.list(row.Reasons)
	if w.meta.Refine != nil {
		columns.optional(row.RefineCosine)
	}
	if w.meta.Places {
		columns.place(row.Source.Place)
		columns.place(row.Target.Place)
	}
	if w.meta.Documents != nil {
		columns.alignment(row.Alignment)
	}
	if len(row.Features) != len(w.meta.Features) {
		return fmt.Errorf("add a bitext row: %d features of %d", len(row.Features), len(w.meta.Features))
	}
	for _, value := range row.Features {
		columns.float(value)
	}
	if columns.err != nil {
		return fmt.Errorf("add a bitext row: %w", columns.err)
	}
	w.pending++
	if w.pending == RowGroup {
		return w.flush()
	}
	return nil
}

// Close writes the remaining rows and the footer.
func (w *Writer) Close() error {
	err := errors.Join(w.flush(), w.file.Close())
	w.builder.Release()
	return err
}

func (w *Writer) flush() error {
	if w.pending == 0 {
		return nil
	}
	w.pending = 0
	record := w.builder.NewRecord()
	defer record.Release()
	if err := w.file.Write(record); err != nil {
		return fmt.Errorf("write bitext rows: %w", err)
	}
	return nil
}

// columns appends the values of one row, column by column in schema order.
type columns struct {
	builder *array.RecordBuilder
	at      int
	err     error
}

func (c *columns) next() array.Builder {
	b := c.builder.Field(c.at)
	c.at++
	return b
}

func (c *columns) null()           { c.next().AppendNull() }
func (c *columns) string(s string) { c.next().(*array.StringBuilder).Append(s) }
func (c *columns) float(f float32) { c.next().(*array.Float32Builder).Append(f) }

func (c *columns) optional(f *float32) {
	if f == nil {
		c.null()
	} else {
		c.float(*f)
	}
}

func (c *columns) dictionary(s string) {
	c.err = errors.Join(c.err, c.next().(*array.BinaryDictionaryBuilder).AppendString(s))
}

func (c *columns) list(values []string) {
	list := c.next().(*array.ListBuilder)
	list.Append(true)
	for _, v := range values {
		list.ValueBuilder().(*array.StringBuilder).Append(v)
	}
}

func (c *columns) side(s Sentence) {
	c.next().(*array.FixedSizeBinaryBuilder).Append(s.Key[:])
	c.dictionary(s.Shard)
	c.next().(*array.Uint32Builder).Append(s.Row)
	c.string(s.Doc)
	c.string(s.URL)
	c.next().(*array.Uint64Builder).Append(s.Line)
}

// place appends the columns of a place; nil: nulls.
func (c *columns) place(p *corpus.Place) {
	for _, column := range placeColumns {
		if b := c.next().(*array.Uint32Builder); p == nil {
			b.AppendNull()
		} else {
			b.Append(*column.of(p))
		}
	}
}

func (c *columns) uint32(n uint32) { c.next().(*array.Uint32Builder).Append(n) }

// alignment appends the columns of an alignment; nil, and a nil bead: nulls.
func (c *columns) alignment(a *Alignment) {
	if a == nil {
		for range alignmentColumns {
			c.null()
		}
		return
	}
	c.string(a.FoundBy)
	c.uint32(a.Sentences[0])
	c.uint32(a.Sentences[1])
	if a.Bead == nil {
		for range 4 {
			c.null()
		}
		return
	}
	c.float(a.Bead.Score)
	c.float(a.Bead.DocScore)
	c.uint32(a.Bead.First[0])
	c.uint32(a.Bead.First[1])
}

func (c *columns) identified(s Sentence) {
	if s.Identified == "" {
		c.null()
		c.null()
		return
	}
	c.string(s.Identified)
	c.float(s.Share)
}

// FileWriter writes a Parquet file. The library panics if it cannot write the first bytes, and drops the error of a row
// group's last; here any write that fails is an error of the call and of all after it.
type FileWriter struct {
	file *pqarrow.FileWriter
	out  sink
}

// NewFileWriter starts a file on w. Close finishes it and does not close w.
func NewFileWriter(w io.Writer, schema *arrow.Schema, properties *parquet.WriterProperties) (*FileWriter, error) {
	out := &FileWriter{out: sink{to: w}}
	return out, out.checked(func() (err error) {
		out.file, err = pqarrow.NewFileWriter(schema, &out.out, properties,
			pqarrow.NewArrowWriterProperties(pqarrow.WithStoreSchema()))
		return err
	})
}

// AppendKeyValueMetadata adds an entry to the file's metadata.
func (w *FileWriter) AppendKeyValueMetadata(key, value string) error {
	return w.file.AppendKeyValueMetadata(key, value)
}

// Write writes a record as a row group.
func (w *FileWriter) Write(record arrow.Record) error {
	return w.checked(func() error { return w.file.Write(record) })
}

// WriteTable writes a table in row groups of so many rows.
func (w *FileWriter) WriteTable(table arrow.Table, rows int64) error {
	return w.checked(func() error { return w.file.WriteTable(table, rows) })
}

// Close writes the footer.
func (w *FileWriter) Close() error { return w.checked(w.file.Close) }

func (w *FileWriter) checked(call func() error) error {
	err := Guard(call)
	if w.out.err != nil {
		return w.out.err
	}
	return err
}

// sink keeps the first error of a file that is written. The library never learns of it.
type sink struct {
	to  io.Writer
	err error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err == nil {
		_, s.err = s.to.Write(p)
	}
	return len(p), nil
}

// Allocator allocates memory for the columns of a table until left is used up. Then it panics, as arrow requires of
// Allocators. A small file may describe a table of any size.
type Allocator struct {
	memory.GoAllocator
	left atomic.Int64 // bytes
}

// NewAllocator returns an allocator of at most left bytes.
func NewAllocator(left int64) *Allocator {
	a := new(Allocator)
	a.Renew(left)
	return a
}

// Renew allows left bytes from now on, whatever was allocated before.
func (a *Allocator) Renew(left int64) { a.left.Store(left) }

func (a *Allocator) take(n int) {
	if n > 0 && a.left.Add(-int64(n)) < 0 {
		panic(fmt.Errorf("its columns are larger than a file of this size can hold"))
	}
}

// Allocate is part of arrow's memory.Allocator.
func (a *Allocator) Allocate(size int) []byte {
	a.take(size)
	return a.GoAllocator.Allocate(size)
}

// Reallocate is part of arrow's memory.Allocator.
func (a *Allocator) Reallocate(size int, b []byte) []byte {
	if cap(b) < size {
		a.take(size)
		a.left.Add(int64(cap(b)))
	}
	return a.GoAllocator.Reallocate(size, b)
}

// Free is part of arrow's memory.Allocator.
func (a *Allocator) Free(b []byte) { a.left.Add(int64(cap(b))) }
