package index

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"bitextmine/internal/badinput"
	"bitextmine/internal/spill"
	"bitextmine/mine"
)

// A cell file has the magic, three uint32 (source rows n, target rows m, k), then the source's ids [n, k] int32, which
// are target rows, and cosines [n, k] float32, and then the same for the target. A list file has another magic, rows n
// of the shard, rows m that its lists are over, k, and the lists of the shard alone. Both are little-endian.
const (
	cellMagic = "MINECELL"
	listMagic = "MINELIST"
)

// header is the beginning of either file.
type header struct {
	Magic   [8]byte
	N, M, K uint32
}

// WriteCell writes the content of a cell file.
func WriteCell(w io.Writer, source, target mine.Neighbours) error {
	return write(w, cellMagic, target.Len(), source, target)
}

// WriteList writes the content of a list file whose lists are over others rows.
func WriteList(w io.Writer, lists mine.Neighbours, others int) error {
	return write(w, listMagic, others, lists)
}

// write writes the first side's n lists over m rows, then the other sides.
func write(w io.Writer, magic string, m int, sides ...mine.Neighbours) error {
	out := bufio.NewWriterSize(w, 1<<20)
	parts := []any{header{[8]byte([]byte(magic)), uint32(sides[0].Len()), uint32(m), uint32(sides[0].K)}}
	for _, side := range sides {
		parts = append(parts, spill.Bytes(side.IDs), spill.Bytes(side.Cosines))
	}
	// Numbers are little-endian in memory, too; to encode them would take as much memory again.
	for _, part := range parts {
		if err := binary.Write(out, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return out.Flush()
}

// read decodes one side of a file of size bytes: 0, the lists of n rows over m, or 1, those of the m rows of a cell
// file. Nothing is allocated before the header agrees with the size.
func read(in *bufio.Reader, size int64, magic string, side int) (h header, lists mine.Neighbours, err error) {
	if err := binary.Read(in, binary.LittleEndian, &h); err != nil {
		return h, lists, fmt.Errorf("its header is truncated")
	}
	if string(h.Magic[:]) != magic {
		return h, lists, fmt.Errorf("it does not begin with %s", magic)
	}
	n, m, k := int64(h.N), int64(h.M), int64(h.K)
	if n > math.MaxInt32 || m > math.MaxInt32 || k > math.MaxUint8 || k == 0 {
		return h, lists, fmt.Errorf("its header is invalid (%d and %d rows, k = %d)", n, m, k)
	}
	rows := n
	if magic == cellMagic {
		rows += m
	}
	if want := int64(binary.Size(h)) + rows*k*8; size != want {
		return h, lists, fmt.Errorf("it has %d bytes instead of %d", size, want)
	}
	if side == 1 {
		if _, err = in.Discard(int(n * k * 8)); err == nil {
			lists, err = readSide(in, m, n, k)
		}
	} else {
		lists, err = readSide(in, n, m, k)
	}
	if err != nil {
		err = fmt.Errorf("%s side: %w", [2]string{"source", "target"}[side], err)
	}
	return h, lists, err
}

// readSide reads n lists of k rows of m.
func readSide(in io.Reader, n, m, k int64) (mine.Neighbours, error) {
	lists := mine.NewNeighbours(int(n), int(k))
	for _, part := range [][]byte{spill.Bytes(lists.IDs), spill.Bytes(lists.Cosines)} {
		if _, err := io.ReadFull(in, part); err != nil {
			return lists, err
		}
	}
	for _, id := range lists.IDs {
		if id < mine.None || int64(id) >= m {
			return lists, fmt.Errorf("it names row %d of %d", id, m)
		}
	}
	return lists, nil
}

// OpenCell reads a side, 0 the source or 1 the target, of the cell file of a cell with n source rows, m target rows
// and k neighbours. A file that belongs to another cell, is truncated, or names rows that do not exist is a badinput
// error.
func OpenCell(path string, side, n, m, k int) (mine.Neighbours, error) {
	return open(path, cellMagic, side, n, m, k)
}

// OpenList reads the list file of a shard of n rows over m rows of the other side, with k neighbours. Errors are
// OpenCell's.
func OpenList(path string, n, m, k int) (mine.Neighbours, error) {
	return open(path, listMagic, 0, n, m, k)
}

func open(path, magic string, side, n, m, k int) (lists mine.Neighbours, err error) {
	f, err := os.Open(path)
	if err != nil {
		return lists, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return lists, err
	}
	h, lists, err := read(bufio.NewReaderSize(f, 1<<20), info.Size(), magic, side)
	if err == nil && (int(h.N) != n || int(h.M) != m || int(h.K) != k) {
		err = fmt.Errorf("it has lists of %d rows over %d with k = %d instead of %d over %d with k = %d", h.N, h.M, h.K,
			n, m, k)
	}
	if err != nil {
		kind := map[string]string{cellMagic: "cell", listMagic: "list"}[magic]
		return mine.Neighbours{}, badinput.Errorf("%s file %s: %w; remove it and run again", kind, path, err)
	}
	return lists, nil
}

type neighbour struct {
	row, place int32
	cosine     float32
}

// openList appends the k nearest rows of distinct query q. The list of q holds the k nearest distinct rows, ordered by
// the place of their first row, so the k nearest rows are among the first k rows of each of these.
func (h *Half) openList(q int, to []neighbour) []neighbour {
	ids, cosines := h.List(q)
	for i, id := range ids {
		if id == mine.None {
			break
		}
		rows := h.Base.rows(int(id))
		for _, row := range rows[:min(len(rows), h.K)] {
			to = append(to, neighbour{row, h.Base.place(row), cosines[i]})
		}
	}
	slices.SortFunc(to, func(a, b neighbour) int {
		return cmp.Or(cmp.Compare(b.cosine, a.cosine), cmp.Compare(a.place, b.place))
	})
	return to[:min(len(to), h.K)]
}
