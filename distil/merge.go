package distil

import (
	"cmp"
	"math"
	"slices"
)

// A merge is a piece of the student's that stands for several of the teacher's in a row. The teacher reads the pieces
// of a word in their order; a table only sums them, and of a language whose words are mostly cut it knows little more
// than syllables. So frequent words and parts of words get a row of their own.
const (
	longestMerge = 6  // a merge joins at most so many pieces of the teacher
	leastUses    = 10 // fewer uses in the text do not teach a row
	mergeBonus   = 0.1
)

// merges are the student's merges. Its nodes are a tree of their parts; node 0 is the root.
type merges struct {
	parts  [][]int32
	pieces []piece
	weight []float64 // what cutting wins by each; more for longer and for more frequent ones
	next   map[[2]int32]int32
	merge  []int32 // the merge that ends at each node; -1: none
}

// piece is a merge in a SentencePiece model.
type piece struct {
	spelling string
	score    float32 // logarithm of its probability: that of its parts in a row and a little more
}

func newMerges() *merges { return &merges{next: map[[2]int32]int32{}, merge: []int32{-1}} }

func (m *merges) add(parts []int32, weight float64) {
	node := int32(0)
	for _, id := range parts {
		next, ok := m.next[[2]int32{node, id}]
		if !ok {
			next = int32(len(m.merge))
			m.next[[2]int32{node, id}] = next
			m.merge = append(m.merge, -1)
		}
		node = next
	}
	m.merge[node] = int32(len(m.parts))
	m.parts, m.weight = append(m.parts, parts), append(m.weight, weight)
}

// span is a stretch of a sequence: one id, or the parts of a merge.
type span struct {
	length int
	merge  int32 // -1: one id
}

// cut divides a sequence into spans of the greatest sum of weights: few pieces, then frequent ones.
func (m *merges) cut(ids []int32, to []span) []span {
	best, last := make([]float64, len(ids)+1), make([]span, len(ids)+1)
	for i := range ids {
		if last[i+1].length == 0 || best[i] > best[i+1] {
			best[i+1], last[i+1] = best[i], span{1, -1}
		}
		node := int32(0)
		for k := i; k < len(ids); k++ {
			next, ok := m.next[[2]int32{node, ids[k]}]
			if !ok {
				break
			}
			node = next
			at := m.merge[node]
			if at < 0 {
				continue
			}
			if sum := best[i] + m.weight[at]; last[k+1].length == 0 || sum > best[k+1] {
				best[k+1], last[k+1] = sum, span{k + 1 - i, at}
			}
		}
	}
	to = to[:0]
	for i := len(ids); i > 0; i -= last[i].length {
		to = append(to, last[i])
	}
	slices.Reverse(to)
	return to
}

// word is a stretch of text that no merge crosses, and how often it stands in the text.
type word struct {
	ids   []int32
	count int
}

// wordsOf divides all sentences where a piece begins a word and at pieces that are not usable.
func wordsOf(text *Sentences, usable, begins []bool) []word {
	var words []word
	place := map[string]int{}
	for i := range text.Len() {
		ids := text.At(i)
		for lo := 0; lo < len(ids); {
			hi := lo + 1
			for usable[ids[lo]] && hi < len(ids) && usable[ids[hi]] && !begins[ids[hi]] {
				hi++
			}
			if hi-lo > 1 {
				key := packed(ids[lo:hi])
				at, ok := place[key]
				if !ok {
					at = len(words)
					place[key] = at
					words = append(words, word{ids: ids[lo:hi]})
				}
				words[at].count++
			}
			lo = hi
		}
	}
	return words
}

// gram is a sequence of pieces; the rest is -1.
type gram [longestMerge]int32

func gramOf(ids []int32) (g gram) {
	for i := range g {
		g[i] = -1
	}
	copy(g[:], ids)
	return g
}

// frequent counts the sequences of pieces within words and returns those that stand there often enough, those that
// save the most pieces first. spell gives a sequence's spelling, of which there must be one only.
func frequent(words []word, spell func(ids []int32) string, taken map[string]bool) []word {
	var all []word
	before := map[gram]int{}
	for n := 2; n <= longestMerge; n++ {
		counts := map[gram]int{}
		for _, w := range words {
			for i := 0; i+n <= len(w.ids); i++ {
				g := w.ids[i : i+n]
				if n == 2 || before[gramOf(g[1:])] >= leastUses && before[gramOf(g[:n-1])] >= leastUses {
					counts[gramOf(g)] += w.count
				}
			}
		}
		for g, count := range counts {
			if count >= leastUses {
				all = append(all, word{slices.Clone(g[:n]), count})
			}
		}
		before = counts
	}
	slices.SortFunc(all, func(a, b word) int {
		return cmp.Or(cmp.Compare(b.count*(len(b.ids)-1), a.count*(len(a.ids)-1)), slices.Compare(a.ids, b.ids))
	})
	return slices.DeleteFunc(all, func(w word) bool {
		spelling := spell(w.ids)
		was := taken[spelling]
		taken[spelling] = true
		return was
	})
}

// chooseMerges chooses at most n merges: of the frequent sequences those that are used most when words are cut by them,
// found in rounds that each leave out half. usable and begins are indexed by the teacher's ids: pieces that a merge may
// have, and those that a word begins with; taken are the spellings of other pieces.
func chooseMerges(text *Sentences, usable, begins []bool, spell func(ids []int32) string, taken map[string]bool,
	n int) *merges {
	words := wordsOf(text, usable, begins)
	chosen := frequent(words, spell, taken)
	for size := 4 * n; ; size = max(size/2, n) {
		chosen = chosen[:min(size, len(chosen))]
		m := mergesOf(chosen)
		uses := make([]int, len(chosen))
		var spans []span
		for _, w := range words {
			spans = m.cut(w.ids, spans)
			for _, s := range spans {
				if s.merge >= 0 {
					uses[s.merge] += w.count
				}
			}
		}
		least := slices.Min(append(uses, leastUses))
		for i := range chosen {
			chosen[i].count = uses[i]
		}
		if len(chosen) <= n && least >= leastUses {
			return mergesOf(chosen)
		}
		chosen = slices.DeleteFunc(chosen, func(w word) bool { return w.count < leastUses })
		slices.SortStableFunc(chosen, func(a, b word) int { return cmp.Compare(b.count, a.count) })
	}
}

func mergesOf(chosen []word) *merges {
	most := 1
	for _, c := range chosen {
		most = max(most, c.count)
	}
	m := newMerges()
	for _, c := range chosen {
		m.add(c.ids, float64(len(c.ids)-1)+0.4*math.Log1p(float64(c.count))/math.Log1p(float64(most)))
	}
	return m
}
