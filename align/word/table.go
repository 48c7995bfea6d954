package word

import (
	"math"
	"sync"
	"sync/atomic"

	"bitextmine/internal/badinput"
)

// entry is a source and a target word that occur together in a pair.
type entry struct {
	prob  float64 // t, in the direction that is being estimated
	count uint64  // expected count in units of 2^-32, which sums to the same in any order
}

// table has an entry for every two words that occur together, source word by source word (compressed sparse rows). Each
// cell of each pair knows its entry, so that nothing is looked up while counting.
type table struct {
	entries []entry
	rows    []int      // entries of source word e are entries[rows[e]:rows[e+1]]
	targets []uint32   // target word of each entry
	null    [2][]entry // translations of NULL: target words, and for the other direction source words
	cells   []uint32   // entry of each cell, pair by pair, [n, m]
	first   []int      // number of cells before each pair
}

// maxEntries is the maximum number of entries: cells number them in 32 bits.
const maxEntries = math.MaxUint32

// newTable finds the entries, on several threads.
func newTable(p *Pairs, threads int) (*table, error) {
	t := &table{cells: make([]uint32, p.cells), first: make([]int, p.Len())}
	for side := range t.null {
		t.null[side] = make([]entry, len(p.sides[1-side].ids))
	}
	for i, before := 0, 0; i < p.Len(); i++ {
		t.first[i] = before
		s := p.shape(i)
		before += s.n * s.m
	}
	in := p.occurrences()
	words := len(p.sides[0].ids)
	t.rows = make([]int, words+1)
	vocabulary := len(p.sides[1].ids)
	parallel(words, threads, func(next func() (int, bool)) {
		seen := newSeen(vocabulary)
		for e, ok := next(); ok; e, ok = next() {
			t.rows[e+1] = seen.collect(p, in.of(e))
		}
	})
	for e := range words {
		t.rows[e+1] += t.rows[e]
	}
	if t.rows[words] > maxEntries {
		return nil, badinput.Errorf("word alignment: the pairs have more than %d different pairs of words; divide them",
			maxEntries)
	}
	t.entries, t.targets = make([]entry, t.rows[words]), make([]uint32, t.rows[words])
	parallel(words, threads, func(next func() (int, bool)) {
		seen := newSeen(vocabulary)
		for e, ok := next(); ok; e, ok = next() {
			seen.collect(p, in.of(e))
			copy(t.targets[t.rows[e]:], seen.words)
			t.number(p, uint32(e), in.of(e), seen)
		}
	})
	return t, nil
}

// number gives the cells of a source word their entries.
func (t *table) number(p *Pairs, e uint32, pairs []int32, seen *seen) {
	begin := uint32(t.rows[e])
	for _, pair := range pairs {
		target := p.sides[1].of(int(pair))
		at := t.first[pair]
		for _, word := range p.sides[0].of(int(pair)) {
			if word == e {
				for j, f := range target {
					t.cells[at+j] = begin + seen.at[f]
				}
			}
			at += len(target)
		}
	}
}

// row returns the entries of a source word.
func (t *table) row(e int) (entries []entry, targets []uint32) {
	return t.entries[t.rows[e]:t.rows[e+1]], t.targets[t.rows[e]:t.rows[e+1]]
}

// seen collects different target words.
type seen struct {
	words []uint32
	at    []uint32 // place of a word in words
	round []uint32 // the call in which a word was last seen
	calls uint32
}

func newSeen(vocabulary int) *seen {
	return &seen{at: make([]uint32, vocabulary), round: make([]uint32, vocabulary)}
}

// collect finds the different target words of pairs and returns their number.
func (s *seen) collect(p *Pairs, pairs []int32) int {
	s.words = s.words[:0]
	s.calls++
	for _, pair := range pairs {
		for _, f := range p.sides[1].of(int(pair)) {
			if s.round[f] != s.calls {
				s.round[f], s.at[f] = s.calls, uint32(len(s.words))
				s.words = append(s.words, f)
			}
		}
	}
	return len(s.words)
}

// index is lists of pairs, one for each word.
type index struct {
	pairs []int32
	ends  []int
}

func (x index) of(word int) []int32 {
	begin := 0
	if word > 0 {
		begin = x.ends[word-1]
	}
	return x.pairs[begin:x.ends[word]]
}

// occurrences lists the pairs in which each source word occurs, each pair once.
func (p *Pairs) occurrences() index {
	words := len(p.sides[0].ids)
	last := make([]int32, words) // pair in which a word was last seen, plus 1
	each := func(do func(word uint32, pair int32)) {
		clear(last)
		for i := range p.Len() {
			for _, w := range p.sides[0].of(i) {
				if last[w] != int32(i)+1 {
					last[w] = int32(i) + 1
					do(w, int32(i))
				}
			}
		}
	}
	x := index{ends: make([]int, words)}
	each(func(w uint32, _ int32) { x.ends[w]++ })
	total := 0
	for w, n := range x.ends {
		x.ends[w] = total // start of the word's list; filling it moves this to its end
		total += n
	}
	x.pairs = make([]int32, total)
	each(func(w uint32, pair int32) {
		x.pairs[x.ends[w]] = pair
		x.ends[w]++
	})
	return x
}

// parallel runs work on several threads. next hands out the numbers 0 to n-1, each once.
func parallel(n, threads int, work func(next func() (int, bool))) {
	const portion = 16
	var taken atomic.Int64
	var wait sync.WaitGroup
	for range max(1, threads) {
		wait.Go(func() {
			at, end := 0, 0
			work(func() (int, bool) {
				if at == end {
					at = int(taken.Add(portion)) - portion
					end = at + portion
				}
				at++
				return at - 1, at <= n
			})
		})
	}
	wait.Wait()
}
