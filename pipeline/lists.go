package pipeline

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"

	"bitextmine/internal/badinput"
	"bitextmine/mine"
)

// A list file holds a shard's neighbours over a cover: the magic, then three uint32 (rows of the shard, rows of the cover, k), then ids
// [n, k] int32, rows of the cover laid end to end, and cosines [n, k] float32; all little-endian.
const listsMagic = "MINELIST"

type listsHeader struct {
	Magic           [len(listsMagic)]byte
	Rows, Others, K uint32
}

// writeLists writes a list file's content.
func writeLists(w io.Writer, lists mine.Neighbours, others int) error {
	out := bufio.NewWriterSize(w, 1<<20)
	header := listsHeader{[len(listsMagic)]byte([]byte(listsMagic)), uint32(lists.Len()), uint32(others), uint32(lists.K)}
	for _, part := range []any{header, lists.IDs, lists.Cosines} {
		if err := binary.Write(out, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return out.Flush()
}

// openLists reads the list file of a shard of n rows over a cover of m, with k neighbours.
func openLists(path string, n, m, k int) (mine.Neighbours, error) {
	f, err := os.Open(path)
	if err != nil {
		return mine.Neighbours{}, err
	}
	defer func() { _ = f.Close() }() // it is only read
	info, err := f.Stat()
	if err != nil {
		return mine.Neighbours{}, err
	}
	lists, others, err := readLists(bufio.NewReaderSize(f, 1<<20), info.Size())
	if err == nil && (lists.Len() != n || others != m || lists.K != k) {
		err = fmt.Errorf("it is of %d rows over %d with k = %d instead of %d over %d with k = %d", lists.Len(), others, lists.K, n, m, k)
	}
	if err != nil {
		return mine.Neighbours{}, badinput.Errorf("list file %s: %w; remove it and run again", path, err)
	}
	return lists, nil
}

// readLists decodes a list file of size bytes.
func readLists(in io.Reader, size int64) (lists mine.Neighbours, others int, err error) {
	var header listsHeader
	if err := binary.Read(in, binary.LittleEndian, &header); err != nil {
		return lists, 0, fmt.Errorf("its header is cut short")
	}
	if string(header.Magic[:]) != listsMagic {
		return lists, 0, fmt.Errorf("it does not begin with %s", listsMagic)
	}
	n, m, k := int64(header.Rows), int64(header.Others), int64(header.K)
	if n > math.MaxInt32 || m > math.MaxInt32 || k > math.MaxUint8 || k == 0 {
		return lists, 0, fmt.Errorf("its header is senseless (%d rows over %d, k = %d)", n, m, k)
	}
	if want := int64(binary.Size(header)) + n*k*8; size != want {
		return lists, 0, fmt.Errorf("it has %d bytes instead of %d", size, want)
	}
	lists = mine.NewNeighbours(int(n), int(k))
	for _, part := range []any{lists.IDs, lists.Cosines} {
		if err := binary.Read(in, binary.LittleEndian, part); err != nil {
			return lists, 0, err
		}
	}
	for _, id := range lists.IDs {
		if id < mine.None || int64(id) >= m {
			return lists, 0, fmt.Errorf("it names row %d of %d", id, m)
		}
	}
	return lists, int(m), nil
}
