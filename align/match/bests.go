package match

// #cgo CFLAGS: -O3 -Wall -Wextra -Wno-psabi
// #include "bests.h"
import "C"

import "unsafe"

// bests holds the best cosines of the source document's sentences in the target document, and the reverse. Long
// documents are sampled.
type bests [2][]float32

// biMax is the mean of both directions' mean best cosine.
func (b bests) biMax() float64 { return (mean(b[0]) + mean(b[1])) / 2 }

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

// compare finds the best cosines of two documents.
func compare(source, target *Side, a, b Document) bests {
	if a.Count*b.Count > longest*longest {
		return bests{sampled(source, target, a, b), sampled(target, source, b, a)}
	}
	return best(source.rows(a), target.rows(b), source.Dim)
}

// best finds the best cosines of the rows of either matrix in the other.
func best(a, b []float32, dim int) bests {
	found := bests{make([]float32, len(a)/dim), make([]float32, len(b)/dim)}
	for side := range found {
		for k := range found[side] {
			found[side][k] = -1
		}
	}
	C.match_bests(floats(a), C.int64_t(len(found[0])), floats(b), C.int64_t(len(found[1])), C.int64_t(dim),
		floats(found[0]), floats(found[1]))
	return found
}

func floats(values []float32) *C.float { return (*C.float)(unsafe.SliceData(values)) }

// sampled are the best cosines of some sentences of a document in all of another one.
func sampled(own, other *Side, a, b Document) []float32 {
	n := min(a.Count, samples)
	sample := make([]float32, 0, n*own.Dim)
	for k := range n {
		sample = append(sample, own.sentence(a.First+k*a.Count/n)...)
	}
	return best(sample, other.rows(b), own.Dim)[0]
}

// rivals are, of each sentence of a side, the best cosine in the rivals of its document, and which rival that is.
type rivals struct {
	side  int
	first []int // place of each document's first sentence
	best  []float32
	of    []int32 // document of the other side
}

// newRivals finds the rivals of a side's documents: all candidates or, if there are pairs already, those that are
// paired with another document of the side. A document that is in no pair may lack a counterpart, and one that is
// paired with the document itself may be wrong.
func newRivals(s *Side, candidates [][2]int, found []bests, side int, pairs []Pair) *rivals {
	r := &rivals{side: side, first: make([]int, len(s.Documents))}
	n := 0
	for d, document := range s.Documents {
		r.first[d] = n
		n += document.Count
	}
	r.best, r.of = make([]float32, n), make([]int32, n)
	for k := range r.best {
		r.best[k] = -1
	}
	partner := map[int]int{} // partner by document of the other side
	for _, p := range pairs {
		of := [2]int{p.Source, p.Target}
		partner[of[1-side]] = of[side]
	}
	for k, c := range candidates {
		if len(found[k][side]) != s.Documents[c[side]].Count {
			continue // a long document, of which other sentences are looked at
		}
		if other, paired := partner[c[1-side]]; pairs != nil && (!paired || other == c[side]) {
			continue // it is no other document's
		}
		for i, v := range found[k][side] {
			if at := r.first[c[side]] + i; v > r.best[at] {
				r.best[at], r.of[at] = v, int32(c[1-side])
			}
		}
	}
	return r
}

// excess is by how much a document's sentences have better cosines in other candidates, on average.
func (r *rivals) excess(c [2]int, found bests) float64 {
	var sum float64
	for i, v := range found[r.side] {
		at := r.first[c[r.side]] + i
		if rival := r.best[at]; int(r.of[at]) != c[1-r.side] && rival > v {
			sum += float64(rival - v)
		}
	}
	return sum / float64(len(found[r.side]))
}
