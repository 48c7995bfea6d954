package embedding

/*
#cgo CFLAGS: -O3 -std=c11
#include "half.h"
*/
import "C"

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"unsafe"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Meta is the `.json` beside an embedding file.
type Meta struct {
	Encoder string `json:"encoder"` // the encoder's digest
	Shard   string `json:"shard"`   // the digest of the shard that was encoded
	N       int    `json:"n"`
	Dim     int    `json:"dim"`
	DType   DType  `json:"dtype"`
}

// MetaPath returns the path of an embedding file's .json: x.npy has x.json.
func MetaPath(path string) string { return strings.TrimSuffix(path, ".npy") + ".json" }

// Write publishes an embedding file and its .json. fill appends the rows, and meta.N is set to their number. If it
// fails, it leaves what was under both names. The .json is written last, so an embedding file that has a .json is
// complete.
func Write(path string, meta Meta, fill func(w *Writer) error) (Meta, error) {
	if !strings.HasSuffix(path, ".npy") {
		return meta, badinput.Errorf("embedding file %s: the name must end in .npy", path)
	}
	if meta.DType != Float16 && meta.DType != Float32 {
		return meta, badinput.Errorf("embedding file %s: dtype is %q but must be float16 or float32", path, meta.DType)
	}
	if meta.Dim < 1 || meta.Dim > dimLimit {
		return meta, badinput.Errorf("embedding file %s: dim is %d but must be from 1 to %d", path, meta.Dim, dimLimit)
	}
	err := atomicfile.Write(path, func(f *os.File) error {
		if _, err := f.Write(npyHeader(descr[meta.DType], 0, meta.Dim)); err != nil {
			return err
		}
		var err error
		if meta.N, err = writeRows(f, meta.Dim, meta.DType, fill); err != nil {
			return err
		}
		if _, err = f.WriteAt(npyHeader(descr[meta.DType], meta.N, meta.Dim), 0); err != nil {
			return err
		}
		// An older .json must not describe the new rows, not even for a moment.
		if err := os.Remove(MetaPath(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	if err != nil {
		return meta, err
	}
	return meta, atomicfile.WriteJSON(MetaPath(path), meta)
}

// Array is rows [n, dim] as a .npy file of float32.
func Array(rows []float32, dim int) []byte {
	b := npyHeader(descr[Float32], len(rows)/dim, dim)
	for _, x := range rows {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return b
}

// RowNumbers is lists of row numbers [n, k] as a .npy file of int32.
func RowNumbers(numbers []int32, k int) []byte {
	b := npyHeader("<i4", len(numbers)/k, k)
	for _, x := range numbers {
		b = binary.LittleEndian.AppendUint32(b, uint32(x))
	}
	return b
}

// WriteRaw publishes rows of float32 without a header, as LASER's programs read them (OpenRaw), and returns their
// number. If fill fails, it leaves nothing under the name.
func WriteRaw(path string, dim int, fill func(w *Writer) error) (rows int, err error) {
	err = atomicfile.Write(path, func(f *os.File) error {
		rows, err = writeRows(f, dim, Float32, fill)
		return err
	})
	return rows, err
}

// writeSize is the number of bytes per write. Linux caches one write as one piece, and a mapping later loads the whole
// piece when it reads any of it (Matrix.Release).
const writeSize = 64 << 10

// writeRows writes the rows that fill appends, and returns their number.
func writeRows(f *os.File, dim int, dtype DType, fill func(w *Writer) error) (int, error) {
	w := &Writer{out: bufio.NewWriterSize(f, writeSize), dim: dim, dtype: dtype}
	if err := fill(w); err != nil {
		return 0, err
	}
	return w.rows, w.out.Flush()
}

// Writer appends rows to an embedding file that is being written.
type Writer struct {
	out   *bufio.Writer
	dim   int
	dtype DType
	rows  int
	buf   []byte // one row, as stored
}

// Rows is the number of rows that were appended.
func (w *Writer) Rows() int { return w.rows }

// halves rounds a row into w.buf, if the processor can and all of it is finite.
func (w *Writer) halves(row []float32) bool {
	if cap(w.buf) < 2*len(row) {
		w.buf = make([]byte, 2*len(row))
	}
	w.buf = w.buf[:2*len(row)]
	return C.half_narrow((*C.float)(unsafe.SliceData(row)), C.int64_t(len(row)),
		(*C.uint16_t)(unsafe.Pointer(unsafe.SliceData(w.buf)))) != 0
}

// store writes a row as it is stored to w.buf, and says whether all of it is finite.
func (w *Writer) store(row []float32) bool {
	w.buf = w.buf[:0]
	finite := true
	for _, x := range row {
		if w.dtype == Float16 {
			h := narrow(x)
			finite = finite && h&0x7c00 != 0x7c00
			w.buf = binary.LittleEndian.AppendUint16(w.buf, h)
		} else {
			bits := math.Float32bits(x)
			finite = finite && bits&0x7f800000 != 0x7f800000
			w.buf = binary.LittleEndian.AppendUint32(w.buf, bits)
		}
	}
	return finite
}

// Append stores rows [m, dim], rounded to nearest even for float16. A value that is not finite, before or after
// rounding, is a badinput error that names its row.
func (w *Writer) Append(rows []float32) error {
	if len(rows)%w.dim != 0 {
		return fmt.Errorf("append %d values to rows of %d", len(rows), w.dim)
	}
	for ; len(rows) > 0; rows = rows[w.dim:] {
		row := rows[:w.dim]
		if !(w.dtype == Float16 && w.halves(row)) && !w.store(row) {
			return badinput.Errorf(
				"row %d has a value that is not finite as %s: the encoder cannot represent this sentence; remove it",
				w.rows, w.dtype)
		}
		if _, err := w.out.Write(w.buf); err != nil {
			return err
		}
		w.rows++
	}
	return nil
}
