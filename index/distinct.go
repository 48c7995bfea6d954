package index

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash/maphash"
	"math"
	"math/bits"
	"slices"
	"sync"

	"bitextmine/encode/embedding"
	"bitextmine/index/kernel"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spill"
)

// Distinct is one side of a cell with every vector once. Sentences that differ only in what the encoder does not see,
// or truncates, have bit-identical vectors. Without merging, a row that occurs more than k times would tie with itself
// at the end of every list that it is in, and no approximate pass could tell which copies belong there.
//
// Row indices of a Distinct are called distinct rows. Those of the Side that it was made from are called rows.
type Distinct struct {
	Kernel *kernel.Side // the same rows for the kernels

	vectors embedding.Matrix
	digest  string  // Side.Digest
	order   []int32 // position of each row in key order; nil means the identity
	// All three are nil if no row repeats. A distinct row is then the row itself.
	first   []int32 // [distinct] the member that is first in order
	start   []int32 // [distinct+1] members[start[i]:start[i+1]] are the rows of distinct row i
	members []int32 // rows, ascending in order within each distinct row
}

// maxLength is the length above which rows are refused because their inner products could overflow float32. Embeddings
// have length 1.
const maxLength = 1e15

func newDistinct(ctx context.Context, room *spill.Arena, name string, side Side) (*Distinct, error) {
	d := &Distinct{vectors: side.Vectors, digest: side.Digest, order: side.Order}
	length, err := longest(ctx, name, side)
	if err != nil {
		return nil, err
	}
	if err := d.fold(ctx, room); err != nil {
		return nil, err
	}
	d.Kernel = kernel.NewSide(d.vectors, d.first, d.order)
	d.Kernel.Length = length
	return d, nil
}

func (d *Distinct) close() { d.Kernel.Close() }

// longest returns the length of the side's longest row. It returns an error for a row that is not finite or too long.
func longest(ctx context.Context, name string, side Side) (float64, error) {
	rows := kernel.NewSide(side.Vectors, nil, nil)
	defer rows.Close()
	var mu sync.Mutex
	longestSquare, firstBad := 0.0, rows.N
	err := side.Vectors.InSteps(ctx, rows.N, func(lo, hi int) {
		square, bad := kernel.Best.Inspect(rows, lo, hi, maxLength*maxLength)
		mu.Lock()
		defer mu.Unlock()
		longestSquare = max(longestSquare, square)
		if bad >= 0 {
			firstBad = min(firstBad, bad)
		}
	})
	if err == nil && firstBad < rows.N {
		err = badLength(name, firstBad, side.Vectors)
	}
	// Rounded up, because the sum was rounded.
	return math.Sqrt(longestSquare) * (1 + 1e-9), err
}

func badLength(name string, row int, m embedding.Matrix) error {
	var square float64
	for _, v := range widened(m, row, make([]float32, m.Dim)) {
		square += float64(v) * float64(v)
	}
	if math.IsNaN(square) || math.IsInf(square, 0) {
		return badinput.Errorf(
			"row %d of the %s embeddings has a value that is not a finite number; encode that shard again", row, name)
	}
	return badinput.Errorf(
		"row %d of the %s embeddings has length %.3g where an embedding has length 1; encode that shard again",
		row, name, math.Sqrt(square))
}

// fold groups rows with equal bytes. The table holds the first occurrence of each distinct row. The hash only finds the
// slot; the bytes decide.
func (d *Distinct) fold(ctx context.Context, room *spill.Arena) error {
	hashes, err := d.hash(ctx)
	if err != nil {
		return err
	}
	table, err := spill.Make[int32](room, 1<<bits.Len(uint(len(hashes)+len(hashes)/2)))
	if err != nil {
		return err
	}
	mask := uint64(len(table) - 1)
	var group []int32 // [row] its distinct row; nil until the first repetition
	distinct := int32(0)
	for row, hash := range hashes {
		at := hash & mask
		var found int32
		for ; table[at] != 0; at = (at + 1) & mask {
			if other := table[at] - 1; hashes[other] == hash &&
				bytes.Equal(rowBytes(d.vectors, int(other)), rowBytes(d.vectors, row)) {
				found = table[at]
				break
			}
		}
		switch {
		case found == 0:
			table[at] = int32(row) + 1
			if group != nil {
				group[row] = distinct
			}
			distinct++
		case group == nil:
			if group, err = spill.Make[int32](room, len(hashes)); err != nil {
				return err
			}
			for i := range row {
				group[i] = int32(i)
			}
			fallthrough
		default:
			group[row] = group[found-1]
		}
	}
	if group == nil {
		return nil
	}
	return d.gather(room, group, int(distinct))
}

func (d *Distinct) hash(ctx context.Context) ([]uint64, error) {
	hashes, seed := make([]uint64, d.vectors.N), maphash.MakeSeed()
	err := d.vectors.InSteps(ctx, len(hashes), func(lo, hi int) {
		for row := lo; row < hi; row++ {
			hashes[row] = maphash.Bytes(seed, rowBytes(d.vectors, row))
		}
	})
	return hashes, err
}

// gather stores the rows of each distinct row consecutively, in order.
func (d *Distinct) gather(room *spill.Arena, group []int32, distinct int) (err error) {
	for _, numbers := range []struct {
		of *[]int32
		n  int
	}{{&d.start, distinct + 1}, {&d.members, len(group)}, {&d.first, distinct}} {
		if *numbers.of, err = spill.Make[int32](room, numbers.n); err != nil {
			return err
		}
	}
	for _, g := range group {
		d.start[g+1]++
	}
	for i := range distinct {
		d.start[i+1] += d.start[i]
	}
	next := slices.Clone(d.start[:distinct])
	for row, g := range group {
		d.members[next[g]] = int32(row)
		next[g]++
	}
	for i := range distinct {
		rows := d.members[d.start[i]:d.start[i+1]]
		if d.order != nil && len(rows) > 1 {
			slices.SortFunc(rows, func(a, b int32) int { return cmp.Compare(d.order[a], d.order[b]) })
		}
		d.first[i] = rows[0]
	}
	return nil
}

// Len returns the number of distinct rows.
func (d *Distinct) Len() int {
	if d.first != nil {
		return len(d.first)
	}
	return d.vectors.N
}

// Dim returns the length of a row.
func (d *Distinct) Dim() int { return d.vectors.Dim }

// Float16 reports whether the rows are stored in float16.
func (d *Distinct) Float16() bool { return d.vectors.F16 != nil }

// Block returns distinct rows lo to hi-1 as float32 [hi-lo, dim]. It uses buf only if the rows must be copied. The
// result is read-only.
func (d *Distinct) Block(lo, hi int, buf []float32) []float32 {
	dim := d.vectors.Dim
	if d.first == nil && d.vectors.F32 != nil {
		return d.vectors.F32[lo*dim : hi*dim]
	}
	buf = buf[:(hi-lo)*dim]
	if d.first == nil {
		kernel.Best.Widen(buf, d.vectors.F16[lo*dim:hi*dim])
		return buf
	}
	for i := lo; i < hi; i++ {
		into := buf[(i-lo)*dim : (i-lo+1)*dim]
		if row := widened(d.vectors, d.row(i), into); d.vectors.F32 != nil {
			copy(into, row)
		}
	}
	return buf
}

// Halves copies rows lo to hi-1, of float16 numbers, to out [hi-lo, width].
func (d *Distinct) Halves(lo, hi, width int, out []uint16) {
	dim := d.vectors.Dim
	for i := lo; i < hi; i++ {
		at := d.row(i) * dim
		copy(out[(i-lo)*width:], d.vectors.F16[at:at+dim])
	}
}

// Digest identifies the distinct rows and their numbering, which follow from the side's vectors: that of the side or,
// where it has none, the SHA-256 of the rows' bytes in sequence, in hexadecimal.
func (d *Distinct) Digest() string {
	if d.digest != "" {
		return d.digest
	}
	sum := sha256.New()
	for i := range d.Len() {
		sum.Write(rowBytes(d.vectors, d.row(i)))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// rows returns all rows of distinct row i, ascending in order.
func (d *Distinct) rows(i int) []int32 {
	if d.first == nil {
		return []int32{int32(i)}
	}
	return d.members[d.start[i]:d.start[i+1]]
}

func (d *Distinct) row(i int) int {
	if d.first == nil {
		return i
	}
	return int(d.first[i])
}

// place is a row's position in the order of sentence keys.
func (d *Distinct) place(row int32) int32 {
	if d.order == nil {
		return row
	}
	return d.order[row]
}

func rowBytes(m embedding.Matrix, row int) []byte {
	if m.F32 != nil {
		return spill.Bytes(m.F32[row*m.Dim : (row+1)*m.Dim])
	}
	return spill.Bytes(m.F16[row*m.Dim : (row+1)*m.Dim])
}

// widened returns row as float32: the matrix's own memory, or buf filled from float16.
func widened(m embedding.Matrix, row int, buf []float32) []float32 {
	if m.F32 != nil {
		return m.F32[row*m.Dim : (row+1)*m.Dim : (row+1)*m.Dim]
	}
	kernel.Best.Widen(buf, m.F16[row*m.Dim:(row+1)*m.Dim])
	return buf[:m.Dim]
}
