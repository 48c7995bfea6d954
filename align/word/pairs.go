package word

import (
	"cmp"
	"slices"
	"strings"
)

// MaxWords is the maximum number of words of a side. A longer side is no sentence, and a pair's work grows with the
// product of both lengths.
const MaxWords = 500

// Pairs are sentence pairs as numbers of words. The zero value is empty.
type Pairs struct {
	Cased bool // keep the words as they are given, for an encoder; the model counts them in lower case
	sides [2]side
	cells int // sum over the pairs of the product of both lengths
	words [][2][]string
}

// side is one side of all pairs.
type side struct {
	ids    map[string]uint32 // vocabulary
	tokens []uint32
	ends   []int // pair i has tokens[ends[i-1]:ends[i]]
}

// Add appends a pair, given its words. It returns false, and appends a pair without words that gets no alignment, if a
// side has no words or more than MaxWords.
func (p *Pairs) Add(source, target []string) bool {
	ok := min(len(source), len(target)) > 0 && max(len(source), len(target)) <= MaxWords
	if !ok {
		source, target = nil, nil
	}
	if p.Cased {
		p.words = append(p.words, [2][]string{source, target})
	}
	p.sides[0].add(source)
	p.sides[1].add(target)
	p.cells += len(source) * len(target)
	return ok
}

// Empty reports whether no pair has words on both sides.
func (p *Pairs) Empty() bool { return p.cells == 0 }

// Len is the number of pairs.
func (p *Pairs) Len() int { return len(p.sides[0].ends) }

func (s *side) add(words []string) {
	if s.ids == nil {
		s.ids = map[string]uint32{}
	}
	for _, w := range words {
		w = strings.ToLower(w)
		id, known := s.ids[w]
		if !known {
			id = uint32(len(s.ids))
			s.ids[strings.Clone(w)] = id // not the sentence that the word may be a part of
		}
		s.tokens = append(s.tokens, id)
	}
	s.ends = append(s.ends, len(s.tokens))
}

// begin is the number of tokens before pair i.
func (s *side) begin(i int) int {
	if i == 0 {
		return 0
	}
	return s.ends[i-1]
}

func (s *side) of(i int) []uint32 { return s.tokens[s.begin(i):s.ends[i]] }

// shape is the lengths of a pair's sides.
type shape struct{ n, m int }

func (p *Pairs) shape(i int) shape {
	return shape{p.sides[0].ends[i] - p.sides[0].begin(i), p.sides[1].ends[i] - p.sides[1].begin(i)}
}

// block is pairs of one shape, for which the prior is computed once.
type block struct {
	shape
	pairs []int32
}

// blockCells is the number of cells after which a block ends.
const blockCells = 1 << 15

// blocks groups all pairs that have words by shape, in the order of shapes.
func (p *Pairs) blocks() []block {
	order := make([]int32, 0, p.Len())
	for i := range p.Len() {
		if p.shape(i).n > 0 {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := p.shape(int(a)), p.shape(int(b))
		return cmp.Or(cmp.Compare(x.n, y.n), cmp.Compare(x.m, y.m), cmp.Compare(a, b))
	})
	var out []block
	for begin := 0; begin < len(order); {
		s := p.shape(int(order[begin]))
		end := begin + 1
		for end < len(order) && (end-begin)*s.n*s.m < blockCells && p.shape(int(order[end])) == s {
			end++
		}
		out = append(out, block{s, order[begin:end]})
		begin = end
	}
	return out
}
