package match

// #cgo CFLAGS: -O3 -Wall -Wextra -Wno-psabi
// #include "bests.h"
import "C"

import (
	"errors"
	"unsafe"

	"bitextmine/internal/spill"
)

// Bests are the best cosines of the source document's sentences in the target document, and the reverse. Long documents
// are sampled.
type Bests [2][]float32

// biMax is the mean of both directions' mean best cosine.
func (b Bests) biMax() float64 { return (mean(b[0]) + mean(b[1])) / 2 }

func mean(values []float32) float64 {
	var sum float64
	for _, v := range values {
		sum += float64(v)
	}
	return sum / float64(len(values))
}

const (
	// longest is the number of sentences of a document, about, up to which each is compared with each.
	longest = 1000
	// samples is how many sentences of a longer one, at equal distances, are compared with all of the other document, so
	// that time grows with its length alone. The mean of 200 best cosines is within 0.01 of that of all.
	samples = 200
)

// Compared are the numbers of cosines that Compare finds for two documents of so many sentences.
func Compared(source, target int) [2]int {
	if source*target > longest*longest {
		return [2]int{min(source, samples), min(target, samples)}
	}
	return [2]int{source, target}
}

// Rows returns n rows of a document from first on [n, dim], valid until the next call.
type Rows func(first, n int) ([]float32, error)

// Held are the rows of a document that is in memory.
func Held(rows []float32, dim int) Rows {
	return func(first, n int) ([]float32, error) { return rows[first*dim:][:n*dim], nil }
}

// Part is how many rows of a document Compare reads at once, at most.
const Part = 4096

// Compare fills found, which is as long as Compared says, with the best cosines of the sentences of two documents, of n
// and m sentences.
func Compare(found Bests, n, m int, source, target Rows, dim int) error {
	for _, values := range found {
		for k := range values {
			values[k] = -1
		}
	}
	if n*m > longest*longest {
		return errors.Join(sampled(found[0], n, m, source, target, dim), sampled(found[1], m, n, target, source, dim))
	}
	return inParts(n, source, func(i int, a []float32) error {
		return inParts(m, target, func(j int, b []float32) error {
			raise(found[0][i:][:len(a)/dim], found[1][j:][:len(b)/dim], a, b, dim)
			return nil
		})
	})
}

// placeOf is the place in a document of n sentences of number k of those that are compared.
func placeOf(k, compared, n int) int { return k * n / compared }

// sampled finds the best cosines of some of a document's n sentences in all m of another one.
func sampled(found []float32, n, m int, own, other Rows, dim int) error {
	sample := make([]float32, 0, len(found)*dim)
	for k := range found {
		row, err := own(placeOf(k, len(found), n), 1)
		if err != nil {
			return err
		}
		sample = append(sample, row...)
	}
	reverse := make([]float32, min(m, Part)) // is not looked at
	return inParts(m, other, func(_ int, rows []float32) error {
		raise(found, reverse[:len(rows)/dim], sample, rows, dim)
		return nil
	})
}

// inParts calls do with all rows of a document, a part after the other.
func inParts(n int, rows Rows, do func(first int, part []float32) error) error {
	for first := 0; first < n; first += Part {
		part, err := rows(first, min(Part, n-first))
		if err == nil {
			err = do(first, part)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// raise raises the best cosines of the rows of either matrix to those in the other.
func raise(ofA, ofB, a, b []float32, dim int) {
	C.match_bests(floats(a), C.int64_t(len(ofA)), floats(b), C.int64_t(len(ofB)), C.int64_t(dim), floats(ofA), floats(ofB))
}

func floats(values []float32) *C.float { return (*C.float)(unsafe.SliceData(values)) }

// rivals are, of each sentence of a side, the best cosine in the rivals of its document, and which rival that is.
type rivals struct {
	side      int
	documents []Document
	first     []int // place of each document's first sentence
	best      []float32
	of        []int32 // document of the other side
}

// newRivals makes room for the rivals of a side's documents.
func newRivals(room *spill.Arena, documents []Document, side int) (*rivals, error) {
	r := &rivals{side: side, documents: documents, first: make([]int, len(documents))}
	n := 0
	for d := range documents {
		r.first[d] = n
		n += documents[d].Count
	}
	var err, other error
	r.best, err = spill.Make[float32](room, n)
	r.of, other = spill.Make[int32](room, n)
	return r, errors.Join(err, other)
}

// clear forgets all rivals.
func (r *rivals) clear() {
	for k := range r.best {
		r.best[k] = -1
	}
	clear(r.of)
}

// add takes in a candidate, the candidates being in order. The rivals of a document are all candidates or, if there are
// pairs already, those that are paired with another document of the side: partner has, by document of the other side,
// the document that it is paired with, or -1. A document that is in no pair may lack a counterpart, and one that is
// paired with the document itself may be wrong.
func (r *rivals) add(c [2]int32, found Bests, partner []int32) {
	own, other := c[r.side], c[1-r.side]
	if len(found[r.side]) != r.documents[own].Count {
		return // a long document, of which other sentences are looked at
	}
	if partner != nil && (partner[other] < 0 || partner[other] == own) {
		return // it is no other document's
	}
	first := r.first[own]
	for i, v := range found[r.side] {
		if at := first + i; v > r.best[at] {
			r.best[at], r.of[at] = v, other
		}
	}
}

// excess is by how much a document's sentences have better cosines in other candidates, on average.
func (r *rivals) excess(c [2]int32, found Bests) float64 {
	own, n := c[r.side], len(found[r.side])
	var sum float64
	for i, v := range found[r.side] {
		at := r.first[own] + placeOf(i, n, r.documents[own].Count)
		if rival := r.best[at]; r.of[at] != c[1-r.side] && rival > v {
			sum += float64(rival - v)
		}
	}
	return sum / float64(n)
}
