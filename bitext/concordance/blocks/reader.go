package blocks

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sort"

	"github.com/klauspost/compress/zstd"
)

// maxBlock bounds what a block may unpack to, in bytes: perBlock records of the longest sentences.
const maxBlock = 256 << 20

// entry is a block's.
type entry struct{ end, rows uint64 }

// readList reads the entries that describe blocks which are there.
func readList(list, data *os.File) (entries []entry, err error) {
	info, err := data.Stat()
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(list)
	if err != nil {
		return nil, err
	}
	for before := (entry{}); len(raw) >= entrySize; raw = raw[entrySize:] {
		e := entry{binary.LittleEndian.Uint64(raw), binary.LittleEndian.Uint64(raw[8:])}
		if e.end <= before.end || e.rows <= before.rows || e.rows-before.rows > perBlock {
			return nil, errors.New("the list of texts is damaged")
		}
		if e.end > uint64(info.Size()) {
			break // its block was not written to its end
		}
		entries, before = append(entries, e), e
	}
	return entries, nil
}

// Reader finds records by their number. It may be used concurrently.
type Reader struct {
	data    *os.File
	entries []entry
	unzip   *zstd.Decoder
}

// Open opens the files of a name.
func Open(name string) (_ *Reader, err error) {
	r := &Reader{}
	if r.data, err = os.Open(name + dataSuffix); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, r.data.Close())
		}
	}()
	list, err := os.Open(name + listSuffix)
	if err != nil {
		return nil, err
	}
	r.entries, err = readList(list, r.data)
	if err = errors.Join(err, list.Close()); err != nil {
		return nil, err
	}
	r.unzip, err = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxBlock))
	return r, err
}

// Close closes the file.
func (r *Reader) Close() error {
	r.unzip.Close()
	return r.data.Close()
}

// Len is the number of records.
func (r *Reader) Len() uint64 {
	if len(r.entries) == 0 {
		return 0
	}
	return r.entries[len(r.entries)-1].rows
}

// Cursor reads records one after another; those of one block cost little more than one. It may be used by one
// goroutine.
type Cursor struct {
	from    *Reader
	first   uint64 // number of the block's first record
	records [][]byte
	buffer  []byte
}

// Cursor returns a cursor.
func (r *Reader) Cursor() *Cursor { return &Cursor{from: r} }

// Record returns a record, which holds until the next call.
func (c *Cursor) Record(row uint64) ([]byte, error) {
	if row < c.first || row-c.first >= uint64(len(c.records)) {
		if err := c.load(row); err != nil {
			return nil, err
		}
	}
	return c.records[row-c.first], nil
}

// load unpacks the block of a record.
func (c *Cursor) load(row uint64) (err error) {
	entries := c.from.entries
	at := sort.Search(len(entries), func(i int) bool { return entries[i].rows > row })
	if at == len(entries) {
		return fmt.Errorf("there is no text %d", row)
	}
	before := entry{}
	if at > 0 {
		before = entries[at-1]
	}
	packed := make([]byte, entries[at].end-before.end)
	if _, err := c.from.data.ReadAt(packed, int64(before.end)); err != nil {
		return err
	}
	if c.buffer, err = c.from.unzip.DecodeAll(packed, c.buffer[:0]); err != nil {
		return err
	}
	c.first, c.records = before.rows, c.records[:0]
	for rest := c.buffer; uint64(len(c.records)) < entries[at].rows-before.rows; {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			c.records = c.records[:0]
			return errors.New("a block of texts is damaged")
		}
		c.records, rest = append(c.records, rest[n:n+int(size)]), rest[n+int(size):]
	}
	return nil
}
