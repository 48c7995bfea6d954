package shard

import (
	"bytes"
	"slices"
	"strings"

	"bitextmine/corpus"
)

// A file's sample has a sampleShare-th of its sentences, but leastSampled to mostSampled.
const (
	sampleShare  = 10
	leastSampled = 100
	mostSampled  = 1000
)

// sample takes the different sentences of a file with the smallest keys. So it depends on the file's text alone, not on
// how that is cut, and has sentences of all of the file.
type sample struct {
	smallest []sampled // up to twice mostSampled, in no order
	full     bool      // mostSampled sentences have keys up to bound
	bound    corpus.Key
}

type sampled struct {
	key  corpus.Key
	text string
}

// add offers a sentence.
func (s *sample) add(key corpus.Key, text string) {
	if s.full && bytes.Compare(key[:], s.bound[:]) > 0 {
		return
	}
	s.smallest = append(s.smallest, sampled{key, strings.Clone(text)})
	if len(s.smallest) == 2*mostSampled {
		s.trim()
	}
}

// trim orders the sentences by their keys, leaves out repetitions, and what is above the bound.
func (s *sample) trim() {
	byKey := func(a, b sampled) int { return bytes.Compare(a.key[:], b.key[:]) }
	slices.SortStableFunc(s.smallest, byKey) // the first of repetitions stays
	s.smallest = slices.CompactFunc(s.smallest, func(a, b sampled) bool { return a.key == b.key })
	if len(s.smallest) >= mostSampled {
		s.smallest = s.smallest[:mostSampled]
		s.full, s.bound = true, s.smallest[mostSampled-1].key
	}
}

// texts returns the sample of a file of so many sentences, in the order of the keys.
func (s *sample) texts(sentences uint64) []string {
	s.trim()
	n := min(max(sentences/sampleShare, leastSampled), uint64(len(s.smallest)))
	texts := make([]string, n)
	for i := range texts {
		texts[i] = s.smallest[i].text
	}
	return texts
}
