package tokenizer

import (
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// bpe merges pairs of neighbours, the pair of the lowest rank first (Sennrich et al., 2016).
type bpe struct {
	ids     map[string]int32
	merges  map[[2]int32]merge
	unknown int32
	fuse    bool
}

// merge is the rank and result of merging a pair.
type merge struct{ rank, id int32 }

// newBPE reads a model: the vocabulary, and merges in the order of their ranks.
func (t *HuggingFace) newBPE(raw json.RawMessage) (*bpe, error) {
	var m struct {
		Vocab    map[string]int32  `json:"vocab"`
		Merges   []json.RawMessage `json:"merges"`
		Unknown  string            `json:"unk_token"`
		Fuse     bool              `json:"fuse_unk"`
		Fallback bool              `json:"byte_fallback"`
		Ignore   bool              `json:"ignore_merges"`
		Prefix   string            `json:"continuing_subword_prefix"`
		Suffix   string            `json:"end_of_word_suffix"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("its model cannot be read: %w", err)
	}
	if m.Fallback || m.Ignore || m.Prefix != "" || m.Suffix != "" {
		return nil, errors.New(
			"its model has byte_fallback, ignore_merges, a prefix or a suffix, which are not computed")
	}
	unknown, ok := m.Vocab[m.Unknown]
	if !ok {
		return nil, fmt.Errorf("its model has the unknown piece %q, which is not in its vocabulary", m.Unknown)
	}
	b := &bpe{ids: t.ids, merges: map[[2]int32]merge{}, unknown: unknown, fuse: m.Fuse}
	for piece, id := range m.Vocab {
		if id < 0 {
			return nil, fmt.Errorf("its model gives %q the id %d", piece, id)
		}
		t.ids[piece] = id
		t.size = max(t.size, int(id)+1)
	}
	t.unknown = unknown
	for rank, entry := range m.Merges {
		var pair [2]string
		if json.Unmarshal(entry, &pair) != nil { // older files have "a b"
			var text string
			if err := json.Unmarshal(entry, &text); err != nil {
				return nil, fmt.Errorf("its merge %d is not a pair", rank)
			}
			pair[0], pair[1], _ = strings.Cut(text, " ")
		}
		left, okLeft := m.Vocab[pair[0]]
		right, okRight := m.Vocab[pair[1]]
		id, ok := m.Vocab[pair[0]+pair[1]]
		if !ok || !okLeft || !okRight {
			return nil, fmt.Errorf("its merge %d, of %q and %q, is not in its vocabulary", rank, pair[0], pair[1])
		}
		b.merges[[2]int32{left, right}] = merge{int32(rank), id}
	}
	return b, nil
}

// symbol is a piece of a word while it is merged; the neighbours are indices, or -1.
type symbol struct {
	id             int32
	previous, next int32
	gone           bool
}

// candidate is a pair that may be merged.
type candidate struct {
	merge
	at int32 // place of the left symbol
}

// candidates is a heap: the lowest rank first, then the leftmost.
type candidates []candidate

func (c candidates) Len() int      { return len(c) }
func (c candidates) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c candidates) Less(i, j int) bool {
	return c[i].rank < c[j].rank || c[i].rank == c[j].rank && c[i].at < c[j].at
}
func (c *candidates) Push(x any) { *c = append(*c, x.(candidate)) }
func (c *candidates) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}

// symbols are the letters of a word; unknown ones side by side are one if the model fuses them.
func (b *bpe) symbols(word string) []symbol {
	var all []symbol
	unknown := false
	for _, r := range word {
		id, ok := b.ids[string(r)]
		if !ok && unknown && b.fuse {
			continue
		}
		if unknown = !ok; unknown {
			id = b.unknown
		}
		n := int32(len(all))
		all = append(all, symbol{id: id, previous: n - 1, next: n + 1})
	}
	if len(all) > 0 {
		all[len(all)-1].next = -1
	}
	return all
}

// split appends the pieces of a word.
func (b *bpe) split(ids []int32, word string) []int32 {
	all := b.symbols(word)
	var queue candidates
	push := func(at int32) {
		if at < 0 || all[at].next < 0 {
			return
		}
		if m, ok := b.merges[[2]int32{all[at].id, all[all[at].next].id}]; ok {
			heap.Push(&queue, candidate{m, at})
		}
	}
	for at := range all {
		push(int32(at))
	}
	for len(queue) > 0 {
		top := heap.Pop(&queue).(candidate)
		left := &all[top.at]
		if left.gone || left.next < 0 {
			continue
		}
		right := &all[left.next]
		if m, ok := b.merges[[2]int32{left.id, right.id}]; !ok || m.id != top.id {
			continue // one of the two was merged since
		}
		left.id, left.next, right.gone = top.id, right.next, true
		if left.next >= 0 {
			all[left.next].previous = top.at
		}
		push(left.previous)
		push(top.at)
	}
	for _, s := range all {
		if !s.gone {
			ids = append(ids, s.id)
		}
	}
	return ids
}
