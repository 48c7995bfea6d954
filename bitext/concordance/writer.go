package concordance

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

// entrySize is the size of a block's entry: where it ends in the file, how many records it and those before have, and
// where its heads end.
const entrySize = 24

// The suffixes of the two files.
const (
	dataSuffix = ".data"
	listSuffix = ".blocks"
)

// BlockWriter adds records. It may be used by one goroutine.
type BlockWriter struct {
	data, list *os.File
	zip        *zstd.Encoder
	end        uint64 // end of the last block in data
	rows       uint64 // rows in all blocks
	heads      []byte
	bodies     []byte
	count      uint64 // number of pending records
}

// AppendBlocks opens the files of a name for more records, and makes them where they are missing.
func AppendBlocks(name string) (_ *BlockWriter, err error) {
	w := &BlockWriter{}
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
func (w *BlockWriter) Len() uint64 { return w.rows + w.count }

// Add adds a record and returns its number.
func (w *BlockWriter) Add(head, body []byte) (row uint64, err error) {
	row = w.rows + w.count
	w.heads = append(binary.AppendUvarint(w.heads, uint64(len(head))), head...)
	w.bodies = append(binary.AppendUvarint(w.bodies, uint64(len(body))), body...)
	if w.count++; w.count == perBlock {
		err = w.block()
	}
	return row, err
}

// block writes the pending records as a block.
func (w *BlockWriter) block() error {
	if w.count == 0 {
		return nil
	}
	between := w.end + uint64(len(w.heads))
	block := w.zip.EncodeAll(w.bodies, w.heads)
	if _, err := w.data.WriteAt(block, int64(w.end)); err != nil {
		return fmt.Errorf("write the texts: %w", err)
	}
	w.end, w.rows = w.end+uint64(len(block)), w.rows+w.count
	w.heads, w.bodies, w.count = w.heads[:0], w.bodies[:0], 0
	var line []byte
	for _, v := range []uint64{w.end, w.rows, between} {
		line = binary.LittleEndian.AppendUint64(line, v)
	}
	if _, err := w.list.Write(line); err != nil {
		return fmt.Errorf("write the list of texts: %w", err)
	}
	return nil
}

// Flush brings all records to the disk.
func (w *BlockWriter) Flush() error {
	if err := w.block(); err != nil {
		return err
	}
	return errors.Join(w.data.Sync(), w.list.Sync())
}

// Close flushes and closes the files.
func (w *BlockWriter) Close() error { return errors.Join(w.Flush(), w.closeFiles()) }

func (w *BlockWriter) closeFiles() (err error) {
	for _, f := range []*os.File{w.data, w.list} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}
