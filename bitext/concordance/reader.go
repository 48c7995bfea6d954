package concordance

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sort"

	"github.com/klauspost/compress/zstd"
)

// maxBlock bounds what a block may unpack to, in bytes: perBlock records of the longest sentences.
const maxBlock = 256 << 20

// entry is a block's.
type entry struct{ end, rows, between uint64 }

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
		e := entry{binary.LittleEndian.Uint64(raw), binary.LittleEndian.Uint64(raw[8:]),
			binary.LittleEndian.Uint64(raw[16:])}
		if e.end <= before.end || e.between < before.end || e.between > e.end || e.rows <= before.rows ||
			e.rows-before.rows > perBlock {
			return nil, errors.New("the list of texts is damaged")
		}
		if e.end > uint64(info.Size()) {
			break // its block was not written to its end
		}
		entries, before = append(entries, e), e
	}
	return entries, nil
}

// BlockReader finds records by their number. It may be used concurrently.
type BlockReader struct {
	data    *os.File
	entries []entry
	unzip   *zstd.Decoder
}

// OpenBlocks opens the files of a name.
func OpenBlocks(name string) (_ *BlockReader, err error) {
	r := &BlockReader{}
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
func (r *BlockReader) Close() error {
	r.unzip.Close()
	return r.data.Close()
}

// BlockCursor reads records one after another; those of one block cost little more than one. It may be used by one
// goroutine.
type BlockCursor struct {
	from   *BlockReader
	heads  blockPart
	bodies blockPart
}

// part is the heads or the bodies of a block.
type blockPart struct {
	first   uint64 // number of the first record
	records [][]byte
	buffer  []byte
}

func (p *blockPart) has(row uint64) bool {
	return row >= p.first && row-p.first < uint64(len(p.records))
}

// Cursor returns a cursor.
func (r *BlockReader) Cursor() *BlockCursor { return &BlockCursor{from: r} }

// Head returns the head of a record, which holds until the next call.
func (c *BlockCursor) Head(row uint64) ([]byte, error) {
	p := &c.heads
	if !p.has(row) {
		before, at, err := c.from.block(row)
		if err != nil {
			return nil, err
		}
		if p.buffer, err = c.from.read(p.buffer, before.end, at.between); err != nil {
			return nil, err
		}
		if err := p.divide(before.rows, at.rows); err != nil {
			return nil, err
		}
	}
	return p.records[row-p.first], nil
}

// Body returns the body of a record, which holds until the next call.
func (c *BlockCursor) Body(row uint64) ([]byte, error) {
	p := &c.bodies
	if !p.has(row) {
		before, at, err := c.from.block(row)
		if err != nil {
			return nil, err
		}
		packed, err := c.from.read(nil, at.between, at.end)
		if err != nil {
			return nil, err
		}
		if p.buffer, err = c.from.unzip.DecodeAll(packed, p.buffer[:0]); err != nil {
			return nil, err
		}
		if err := p.divide(before.rows, at.rows); err != nil {
			return nil, err
		}
	}
	return p.records[row-p.first], nil
}

// block finds the entries of a record's block and of the one before.
func (r *BlockReader) block(row uint64) (before, at entry, err error) {
	i := sort.Search(len(r.entries), func(i int) bool { return r.entries[i].rows > row })
	if i == len(r.entries) {
		return before, at, fmt.Errorf("there is no text %d", row)
	}
	if i > 0 {
		before = r.entries[i-1]
	}
	return before, r.entries[i], nil
}

func (r *BlockReader) read(into []byte, from, to uint64) ([]byte, error) {
	into = slices.Grow(into[:0], int(to-from))[:to-from]
	_, err := r.data.ReadAt(into, int64(from))
	return into, err
}

// divide finds the records from one number to before another in the buffer.
func (p *blockPart) divide(from, to uint64) error {
	p.first, p.records = from, p.records[:0]
	for rest := p.buffer; uint64(len(p.records)) < to-from; {
		size, n := binary.Uvarint(rest)
		if n <= 0 || size > uint64(len(rest)-n) {
			p.records = p.records[:0]
			return errors.New("a block of texts is damaged")
		}
		p.records, rest = append(p.records, rest[n:n+int(size)]), rest[n+int(size):]
	}
	return nil
}
