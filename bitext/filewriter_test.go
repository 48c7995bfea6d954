package bitext

import (
	"errors"
	"io"
	"syscall"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
)

// fullOnce is a disk that is full at the n-th write and has room again at the next.
type fullOnce struct{ n int }

func (f *fullOnce) Write(p []byte) (int, error) {
	if f.n--; f.n == 0 {
		return 0, syscall.ENOSPC
	}
	return len(p), nil
}

// TestNoWriteIsLost: whichever write fails, the file is not taken for whole.
func TestNoWriteIsLost(t *testing.T) {
	for n := 1; ; n++ {
		disk := &fullOnce{n}
		err := writeGroups(disk, 2)
		if disk.n > 0 { // fewer than n writes
			if n < 20 || err != nil {
				t.Errorf("%d writes, %v", n-1, err)
			}
			return
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("write %d failed: %v", n, err)
		}
	}
}

// writeGroups writes row groups of two columns.
func writeGroups(to io.Writer, groups int) (err error) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}, {Name: "score", Type: arrow.PrimitiveTypes.Float32}}, nil)
	w, err := NewFileWriter(to, schema, parquet.NewWriterProperties())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for range groups {
		b.Field(0).(*array.StringBuilder).AppendValues([]string{"a", "b", "a"}, nil)
		b.Field(1).(*array.Float32Builder).AppendValues([]float32{1, 2, 3}, nil)
		record := b.NewRecord()
		err := w.Write(record)
		record.Release()
		if err != nil {
			return err
		}
	}
	return nil
}
