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

// Compare fills found, which is as long as Compared says, with the best cosines of two documents' sentences
// [sentences, dim].
func Compare(found Bests, source, target []float32, dim int) {
	n, m := len(source)/dim, len(target)/dim
	if n*m > longest*longest {
		best(found[0], make([]float32, m), sampled(source, n, dim), target, dim)
		best(found[1], make([]float32, n), sampled(target, m, dim), source, dim)
		return
	}
	best(found[0], found[1], source, target, dim)
}

// best finds the best cosines of the rows of either matrix in the other.
func best(ofA, ofB, a, b []float32, dim int) {
	for _, found := range [][]float32{ofA, ofB} {
		for k := range found {
			found[k] = -1
		}
	}
	C.match_bests(floats(a), C.int64_t(len(ofA)), floats(b), C.int64_t(len(ofB)), C.int64_t(dim), floats(ofA), floats(ofB))
}

func floats(values []float32) *C.float { return (*C.float)(unsafe.SliceData(values)) }

// sampled are some of the rows of a document.
func sampled(rows []float32, count, dim int) []float32 {
	n := min(count, samples)
	sample := make([]float32, 0, n*dim)
	for k := range n {
		sample = append(sample, rows[k*count/n*dim:][:dim]...)
	}
	return sample
}

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
	var sum float64
	for i, v := range found[r.side] {
		at := r.first[c[r.side]] + i
		if rival := r.best[at]; r.of[at] != c[1-r.side] && rival > v {
			sum += float64(rival - v)
		}
	}
	return sum / float64(len(found[r.side]))
}
