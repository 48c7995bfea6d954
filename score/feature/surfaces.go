package feature

import "bitextmine/corpus/surface"

// Surfaces holds the surface features of sentences, without names and words in lower case, in a third of the memory
// that they would take one by one.
type Surfaces struct {
	all     []packed
	words   []uint32 // of a sentence its Capitals, then its Stems
	numbers []surface.Number
}

// packed is a sentence's features; words and numbers are where its own begin.
type packed struct {
	words, numbers         int
	capitals, stems, count uint32
	length, numerals       int32
	marks                  [8]uint8
	negation               surface.Negation
}

// NewSurfaces returns the features of n sentences, all of them empty.
func NewSurfaces(n int) Surfaces { return Surfaces{all: make([]packed, n)} }

// Len is the number of sentences.
func (s *Surfaces) Len() int { return len(s.all) }

// Set copies the features of sentence i, which must be set once at most.
func (s *Surfaces) Set(i int32, f *surface.Features) {
	s.all[i] = packed{
		words: len(s.words), numbers: len(s.numbers),
		capitals: uint32(len(f.Capitals)), stems: uint32(len(f.Stems)), count: uint32(len(f.Numbers)),
		length: f.Length, numerals: f.Numerals, marks: f.Marks, negation: f.Negation,
	}
	s.words = append(append(s.words, f.Capitals...), f.Stems...)
	s.numbers = append(s.numbers, f.Numbers...)
}

// Of returns the features of sentence i.
func (s *Surfaces) Of(i int32) surface.Features {
	p := &s.all[i]
	words, numbers := s.words[p.words:], s.numbers[p.numbers:]
	return surface.Features{
		Length: p.length, Numerals: p.numerals, Marks: p.marks, Negation: p.negation,
		Capitals: words[:p.capitals:p.capitals], Stems: words[p.capitals:][:p.stems:p.stems], Numbers: numbers[:p.count:p.count],
	}
}
