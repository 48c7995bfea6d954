package index

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

// A cell file holds a Result, little-endian: the magic, three uint32 (source rows, target rows, k), then the source's
// ids [n, k] int32 and cosines [n, k] float32, and the same for the target.
const cellMagic = "MINECELL"

// WriteResult writes the content of a cell file.
func WriteResult(w io.Writer, r Result) error {
	out := bufio.NewWriterSize(w, 1<<20)
	if _, err := out.WriteString(cellMagic); err != nil {
		return err
	}
	header := []uint32{uint32(r.Source.Len()), uint32(r.Target.Len()), uint32(r.Source.K)}
	for _, part := range []any{header, r.Source.IDs, r.Source.Cosines, r.Target.IDs, r.Target.Cosines} {
		if err := binary.Write(out, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return out.Flush()
}

// OpenResult reads the cell file of a cell with n source rows, m target rows and k neighbours. A file that belongs to
// another cell, is truncated, or names rows that do not exist is a badinput error.
func OpenResult(path string, n, m, k int) (Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = f.Close() }() // it is only read
	info, err := f.Stat()
	if err != nil {
		return Result{}, err
	}
	r, err := readResult(bufio.NewReaderSize(f, 1<<20), info.Size())
	if err == nil && (r.Source.Len() != n || r.Target.Len() != m || r.Source.K != k) {
		err = fmt.Errorf("it has %d x %d rows with k = %d instead of %d x %d with k = %d", r.Source.Len(), r.Target.Len(), r.Source.K, n, m, k)
	}
	if err != nil {
		return Result{}, badinput.Errorf("cell file %s: %w; remove it and run again", path, err)
	}
	return r, nil
}

// readResult decodes a cell file of size bytes.
func readResult(in io.Reader, size int64) (Result, error) {
	var header struct {
		Magic   [len(cellMagic)]byte
		N, M, K uint32
	}
	if err := binary.Read(in, binary.LittleEndian, &header); err != nil {
		return Result{}, fmt.Errorf("its header is truncated")
	}
	if string(header.Magic[:]) != cellMagic {
		return Result{}, fmt.Errorf("it does not begin with %s", cellMagic)
	}
	n, m, k := int64(header.N), int64(header.M), int64(header.K)
	if n > math.MaxInt32 || m > math.MaxInt32 || k > math.MaxUint8 || k == 0 {
		return Result{}, fmt.Errorf("its header is invalid (%d x %d rows, k = %d)", n, m, k)
	}
	if want := int64(binary.Size(header)) + (n+m)*k*8; size != want {
		return Result{}, fmt.Errorf("it has %d bytes instead of %d", size, want)
	}
	source, err := readLists(in, n, k, m)
	if err != nil {
		return Result{}, fmt.Errorf("source side: %w", err)
	}
	target, err := readLists(in, m, k, n)
	if err != nil {
		return Result{}, fmt.Errorf("target side: %w", err)
	}
	return Result{Source: source, Target: target}, nil
}

func readLists(in io.Reader, n, k, others int64) (mine.Neighbours, error) {
	nb := mine.NewNeighbours(int(n), int(k))
	for _, part := range []any{nb.IDs, nb.Cosines} {
		if err := binary.Read(in, binary.LittleEndian, part); err != nil {
			return nb, err
		}
	}
	for _, id := range nb.IDs {
		if id < mine.None || int64(id) >= others {
			return nb, fmt.Errorf("it names row %d of %d", id, others)
		}
	}
	return nb, nil
}
