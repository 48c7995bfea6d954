package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"bitextmine/encode/tokenizer/pattern"
)

// bpe merges pairs of neighbours, the pair of the lowest rank first (Sennrich et al., 2016).
type bpe struct {
	ids            map[string]int32
	merges         mergeTable
	unknown        int32 // -1: unknown letters are left out
	fuse, whole    bool  // unknown letters are one; a word that is a piece is not split
	bytes          []int32
	prefix, suffix string
}

// merge is the rank and result of merging a pair.
type merge struct{ rank, id int32 }

// mergeTable maps pairs of ids to merges: a hash table with open addresses, which a look takes one memory access for.
type mergeTable struct {
	slots []struct {
		key uint64 // the pair, plus one
		merge
	}
	shift uint
}

func newMergeTable(n int) mergeTable {
	t := mergeTable{shift: 60}
	for 1<<(64-t.shift) < 2*n {
		t.shift--
	}
	t.slots = make([]struct {
		key uint64
		merge
	}, 1<<(64-t.shift))
	return t
}

func pairKey(left, right int32) uint64 { return uint64(uint32(left))<<32 | uint64(uint32(right)) + 1 }

func (t *mergeTable) at(key uint64) int {
	i := int(key * 0x9e3779b97f4a7c15 >> t.shift)
	for t.slots[i].key != key && t.slots[i].key != 0 {
		i = (i + 1) & (len(t.slots) - 1)
	}
	return i
}

// get returns the merge of a pair; its rank is noRank if there is none.
func (t *mergeTable) get(left, right int32) merge {
	if s := &t.slots[t.at(pairKey(left, right))]; s.key != 0 {
		return s.merge
	}
	return merge{rank: noRank}
}

const noRank = 1<<31 - 1

func (t *mergeTable) set(left, right int32, m merge) {
	key := pairKey(left, right)
	s := &t.slots[t.at(key)]
	s.key, s.merge = key, m
}

// mergeList is the merges of a file: pairs, or texts with a space in older files.
type mergeList [][2]string

func (l *mergeList) UnmarshalJSON(raw []byte) error {
	if json.Unmarshal(raw, (*[][2]string)(l)) == nil {
		return nil
	}
	var texts []string
	if err := json.Unmarshal(raw, &texts); err != nil {
		return errors.New("its merges are not pairs")
	}
	*l = nil
	for rank, text := range texts {
		if strings.HasPrefix(text, "#version") {
			continue
		}
		left, right, ok := strings.Cut(text, " ")
		if !ok || strings.Contains(right, " ") {
			return fmt.Errorf("its merge %d is not a pair", rank)
		}
		*l = append(*l, [2]string{left, right})
	}
	return nil
}

// newBPE reads a model: the vocabulary, and merges in the order of their ranks.
func (t *HuggingFace) newBPE(raw json.RawMessage) (*bpe, error) {
	var m struct {
		Vocab    map[string]int32 `json:"vocab"`
		Merges   mergeList        `json:"merges"`
		Unknown  *string          `json:"unk_token"`
		Fuse     bool             `json:"fuse_unk"`
		Fallback bool             `json:"byte_fallback"`
		Ignore   bool             `json:"ignore_merges"`
		Dropout  float64          `json:"dropout"`
		Prefix   string           `json:"continuing_subword_prefix"`
		Suffix   string           `json:"end_of_word_suffix"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("its model cannot be read: %w", err)
	}
	if m.Dropout != 0 {
		return nil, fmt.Errorf("its model leaves out merges by chance (dropout %v), which cannot be computed", m.Dropout)
	}
	if err := t.setVocabulary(m.Vocab); err != nil {
		return nil, err
	}
	b := &bpe{ids: t.ids, merges: newMergeTable(len(m.Merges)), unknown: -1, fuse: m.Fuse, whole: m.Ignore,
		prefix: m.Prefix, suffix: m.Suffix}
	if m.Unknown != nil {
		var ok bool
		if b.unknown, ok = m.Vocab[*m.Unknown]; !ok {
			return nil, fmt.Errorf("its model has the unknown piece %q, which is not in its vocabulary", *m.Unknown)
		}
		t.unknown = b.unknown
	}
	if m.Fallback {
		b.bytes = byteIDs(m.Vocab)
	}
	signs := borders{}
	for rank, pair := range m.Merges {
		tail, ok := strings.CutPrefix(pair[1], m.Prefix)
		left, okLeft := m.Vocab[pair[0]]
		right, okRight := m.Vocab[pair[1]]
		id, okBoth := m.Vocab[pair[0]+tail]
		if !ok || !okBoth || !okLeft || !okRight {
			return nil, fmt.Errorf("its merge %d, of %q and %q, is not in its vocabulary", rank, pair[0], pair[1])
		}
		b.merges.set(left, right, merge{int32(rank), id})
		signs.add(pair[0], tail)
	}
	if _, ok := m.Vocab[string(borderSign)]; ok && !m.Ignore && m.Prefix == "" && m.Suffix == "" {
		t.words = append(t.words, signs.split)
	}
	return b, nil
}

// byteIDs are the ids of <0x00> to <0xFF>, -1 for those that a vocabulary lacks.
func byteIDs(vocabulary map[string]int32) []int32 {
	ids := make([]int32, 256)
	for b := range ids {
		id, ok := vocabulary[fmt.Sprintf("<0x%02X>", b)]
		if !ok {
			id = -1
		}
		ids[b] = id
	}
	return ids
}

// borders finds where no merge can be: a model that gets whole sentences merges inside words, which its sign for a
// space begins. Words that are split on their own are remembered.
type borders map[rune]bool // letters that a merge has before the sign

const borderSign = '▁'

// add takes note of a merge.
func (b borders) add(left, right string) {
	if whole := left + right; strings.Contains(whole, string(borderSign)) {
		before := rune(-1)
		for _, r := range whole {
			if r == borderSign && before >= 0 {
				b[before] = true
			}
			before = r
		}
	}
}

// split is a step that splits before a sign whose border no merge crosses.
func (b borders) split(m *memory, p piece) {
	begin := 0
	for at := 0; ; {
		next := strings.Index(p.text[at:], string(borderSign))
		if next < 0 {
			break
		}
		at += next
		if before, n := utf8.DecodeLastRuneInString(p.text[:at]); n > 0 && !b[before] {
			m.add(p.text[begin:at], p.start && begin == 0)
			begin = at
		}
		at += len(string(borderSign))
	}
	m.add(p.text[begin:], p.start && begin == 0)
}

// bpeMemory is the working memory of merging.
type bpeMemory struct {
	symbols []symbol
	queue   []candidate
}

// symbol is a piece of a word while it is merged; the neighbours are indices, or -1.
type symbol struct {
	id             int32
	previous, next int32
	merge          // merge of this symbol and the next
}

// letters makes the symbols of a word's letters.
func (b *bpe) letters(all []symbol, word string) []symbol {
	add := func(id int32) { all = append(all, symbol{id: id}) }
	pending := false // an unknown letter comes before the next known one, and fuses with the next unknown one
	for at := 0; at < len(word); {
		_, n := pattern.LetterAt(word, at)
		letter := word[at : at+n]
		if at > 0 && b.prefix != "" {
			letter = b.prefix + letter
		}
		if at += n; at == len(word) && b.suffix != "" {
			letter += b.suffix
		}
		if id, ok := b.ids[letter]; ok {
			if pending {
				add(b.unknown)
			}
			add(id)
			pending = false
			continue
		}
		if b.inBytes(letter) {
			for i := range len(letter) {
				add(b.bytes[letter[i]])
			}
			continue
		}
		if b.unknown < 0 {
			continue
		}
		if pending && !b.fuse {
			add(b.unknown)
		}
		pending = true
	}
	if pending {
		add(b.unknown)
	}
	return all
}

// inBytes reports whether there is a piece for each byte.
func (b *bpe) inBytes(letter string) bool {
	for i := range len(letter) {
		if b.bytes == nil || b.bytes[letter[i]] < 0 {
			return false
		}
	}
	return true
}

// longWord is the number of symbols from which a queue of pairs is faster than a look at all.
const longWord = 40

// split appends the pieces of a word.
func (b *bpe) split(m *memory, ids []int32, word string) []int32 {
	if b.whole {
		if id, ok := b.ids[word]; ok {
			return append(ids, id)
		}
	}
	all := b.letters(m.bpe.symbols[:0], word)
	m.bpe.symbols = all
	for i := range all {
		all[i].previous, all[i].next, all[i].merge = int32(i)-1, int32(i)+1, merge{rank: noRank}
		if i+1 < len(all) {
			all[i].merge = b.merges.get(all[i].id, all[i+1].id)
		} else {
			all[i].next = -1
		}
	}
	if len(all) > longWord {
		b.mergeQueued(m)
	} else {
		b.mergeAll(all)
	}
	for at := int32(0); at >= 0 && len(all) > 0; at = all[at].next {
		ids = append(ids, all[at].id)
	}
	return ids
}

// mergeAll looks at all pairs for the lowest rank, the leftmost first.
func (b *bpe) mergeAll(all []symbol) {
	for {
		best, rank := int32(-1), int32(noRank)
		for at := int32(0); at >= 0 && len(all) > 0; at = all[at].next {
			if all[at].rank < rank {
				best, rank = at, all[at].rank
			}
		}
		if best < 0 {
			return
		}
		b.join(all, best)
	}
}

// join merges a symbol with the next one.
func (b *bpe) join(all []symbol, at int32) {
	left := &all[at]
	right := &all[left.next]
	left.id, left.next = left.merge.id, right.next
	right.id = -1
	left.merge = merge{rank: noRank}
	if left.next >= 0 {
		all[left.next].previous = at
		left.merge = b.merges.get(left.id, all[left.next].id)
	}
	if left.previous >= 0 {
		before := &all[left.previous]
		before.merge = b.merges.get(before.id, left.id)
	}
}

// candidate is a pair that may be merged.
type candidate struct {
	rank, at int32
}

// before reports whether a pair is merged before another: the lowest rank first, then the leftmost.
func (c candidate) before(d candidate) bool {
	return c.rank < d.rank || c.rank == d.rank && c.at < d.at
}

// mergeQueued takes the pairs from a heap.
func (b *bpe) mergeQueued(m *memory) {
	all, queue := m.bpe.symbols, m.bpe.queue[:0]
	push := func(at int32) {
		if at < 0 || all[at].rank == noRank {
			return
		}
		queue = append(queue, candidate{all[at].rank, at})
		for i := len(queue) - 1; i > 0 && queue[i].before(queue[(i-1)/2]); i = (i - 1) / 2 {
			queue[i], queue[(i-1)/2] = queue[(i-1)/2], queue[i]
		}
	}
	for at := range all {
		push(int32(at))
	}
	for len(queue) > 0 {
		top := queue[0]
		last := len(queue) - 1
		queue[0] = queue[last]
		queue = queue[:last]
		for i := 0; ; {
			child := 2*i + 1
			if child >= last {
				break
			}
			if child+1 < last && queue[child+1].before(queue[child]) {
				child++
			}
			if !queue[child].before(queue[i]) {
				break
			}
			queue[i], queue[child] = queue[child], queue[i]
			i = child
		}
		if all[top.at].id < 0 || all[top.at].rank != top.rank {
			continue // it was merged since
		}
		b.join(all, top.at)
		push(all[top.at].previous)
		push(top.at)
	}
	m.bpe.queue = queue
}
