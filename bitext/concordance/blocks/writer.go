package blocks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// perBlock is how many records a block has: more make it smaller, and a single record slower to read.
const perBlock = 128

// entrySize is the size of a block's entry: where it ends in the file, and how many records it and those before have.
const entrySize = 16

// The suffixes of the two files.
const (
	dataSuffix = ".zst"
	listSuffix = ".blocks"
)

// Writer adds records. It may be used by one goroutine.
type Writer struct {
	data, list *os.File
	zip        *zstd.Encoder
	end        uint64 // of the last block in data
	rows       uint64 // of all blocks
	pending    []byte
	count      uint64 // of pending records
}

// Append opens the files of a name for more records, and makes them where they are missing.
func Append(name string) (_ *Writer, err error) {
	w := &Writer{}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.closeFiles())
		}
	}()
	if w.data, err = os.OpenFile(name+dataSuffix, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	if w.list, err = os.OpenFile(name+listSuffix, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return nil, err
	}
	entries, err := readList(w.list, w.data)
	if err != nil {
		return nil, err
	}
	if n := len(entries); n > 0 {
		w.end, w.rows = entries[n-1].end, entries[n-1].rows
	}
	listed := int64(len(entries)) * entrySize
	if err = w.list.Truncate(listed); err != nil {
		return nil, err
	}
	if _, err = w.list.Seek(listed, io.SeekStart); err != nil {
		return nil, err
	}
	w.zip, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	return w, err
}

// Len is the number of records.
func (w *Writer) Len() uint64 { return w.rows + w.count }

// Add adds a record and returns its number.
func (w *Writer) Add(record []byte) (row uint64, err error) {
	row = w.rows + w.count
	w.pending = append(binary.AppendUvarint(w.pending, uint64(len(record))), record...)
	if w.count++; w.count == perBlock {
		err = w.block()
	}
	return row, err
}

// block writes the pending records as a block.
func (w *Writer) block() error {
	if w.count == 0 {
		return nil
	}
	packed := w.zip.EncodeAll(w.pending, nil)
	if _, err := w.data.WriteAt(packed, int64(w.end)); err != nil {
		return fmt.Errorf("write the texts: %w", err)
	}
	w.end, w.rows = w.end+uint64(len(packed)), w.rows+w.count
	w.pending, w.count = w.pending[:0], 0
	entry := binary.LittleEndian.AppendUint64(nil, w.end)
	if _, err := w.list.Write(binary.LittleEndian.AppendUint64(entry, w.rows)); err != nil {
		return fmt.Errorf("write the list of texts: %w", err)
	}
	return nil
}

// Flush brings all records to the disk.
func (w *Writer) Flush() error {
	if err := w.block(); err != nil {
		return err
	}
	return errors.Join(w.data.Sync(), w.list.Sync())
}

// Close flushes and closes the files.
func (w *Writer) Close() error { return errors.Join(w.Flush(), w.closeFiles()) }

func (w *Writer) closeFiles() (err error) {
	for _, f := range []*os.File{w.data, w.list} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}
