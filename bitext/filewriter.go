package bitext

import (
	"fmt"
	"io"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
)

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
	a.left.Store(left)
	return a
}

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
