package sentencepiece

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// Trie finds the pieces that are prefixes of a text. It is a double array: the child of a node by byte c is in slot
// base XOR c. No two nodes have the same base, so the slot's label identifies the child.
type Trie struct {
	nodes []node  // slots, in blocks of 256
	ids   []int32 // id of the piece that ends in each slot; -1: none
	root  uint32  // base of the root
}

// node is a slot. Free ones have no children and no score, so that a text's byte 0, which no piece has, ends there.
type node struct {
	link  uint32 // base << 10 | whether children may have even and odd labels << 8 | label
	score float32
}

const block = 256

// maxBase is the greatest base that a link has room for.
const maxBase = 1<<22 - 1

func (n node) base() uint32 { return n.link >> 10 }

// leads reports whether a child may have a label: half of the letters that no child has are known without a look at a
// slot far away.
func (n node) leads(label byte) bool { return n.link>>(8+label%2)&1 != 0 }

// NewTrie makes a trie; a piece's id is its index. Empty pieces are left out, and of equal ones the last counts; twice
// says whether there are any. It returns nil if there are too many pieces, or if one has a byte 0.
func NewTrie(pieces []string) (t *Trie, twice bool) {
	order := sorted(pieces)
	b := newBuilder(len(pieces))
	todo := make([]span, 1, 3*len(pieces)+1) // nodes without their children
	todo[0].hi = int32(len(order))
	root := uint32(0)
	var labels []byte
	var ends []int32
	for next := 0; next < len(todo); next++ {
		s := todo[next]
		for first := s.lo; s.lo < s.hi && len(pieces[order[s.lo].id]) == int(s.depth); s.lo++ {
			twice = twice || s.lo > first
			b.ids[s.slot] = order[s.lo].id
		}
		if s.lo == s.hi {
			continue
		}
		labels, ends = labels[:0], ends[:0]
		for i := s.lo; i < s.hi; i++ {
			if label := order[i].at(pieces, int(s.depth)); len(labels) == 0 || labels[len(labels)-1] != label {
				labels, ends = append(labels, label), append(ends, i)
			}
		}
		ends = append(ends, s.hi)
		base := b.place(labels)
		if labels[0] == 0 || base > maxBase {
			return nil, twice
		}
		if next == 0 {
			root = base
		} else {
			b.nodes[s.slot].link |= base << 10
		}
		for i, label := range labels {
			if next > 0 {
				b.nodes[s.slot].link |= 1 << (8 + label%2)
			}
			todo = append(todo, span{base ^ uint32(label), ends[i], ends[i+1], s.depth + 1})
		}
	}
	if root == 0 {
		b.grow() // a slot for every first byte, all free
	}
	return &Trie{nodes: b.nodes, ids: b.ids, root: root}, twice
}

// span is a node: the pieces order[lo:hi] pass through it.
type span struct {
	slot          uint32
	lo, hi, depth int32
}

// key is a piece's first eight bytes, which tell most pieces apart, and its id.
type key struct {
	first uint64
	id    int32
}

// at is a byte of the piece.
func (k key) at(pieces []string, i int) byte {
	if i < 8 {
		return byte(k.first >> (56 - 8*i))
	}
	return pieces[k.id][i]
}

// sorted orders pieces that are not empty by their bytes, and equal ones by their ids.
func sorted(pieces []string) []key {
	order := make([]key, 0, len(pieces))
	for id, piece := range pieces {
		if piece != "" {
			var first [8]byte
			copy(first[:], piece)
			order = append(order, key{binary.BigEndian.Uint64(first[:]), int32(id)})
		}
	}
	slices.SortFunc(order, func(a, b key) int {
		if a.first != b.first {
			return cmp.Compare(a.first, b.first)
		}
		return cmp.Or(cmp.Compare(pieces[a.id], pieces[b.id]), cmp.Compare(a.id, b.id))
	})
	return order
}

// Find returns the id of a piece.
func (t *Trie) Find(piece string) (int32, bool) {
	n, slot := t.start(), uint32(0)
	for i := range len(piece) {
		if !n.leads(piece[i]) {
			return -1, false
		}
		slot = n.base() ^ uint32(piece[i])
		if n = t.nodes[slot]; byte(n.link) != piece[i] {
			return -1, false
		}
	}
	if piece == "" || t.ids[slot] < 0 {
		return -1, false
	}
	return t.ids[slot], true
}

// start is the root, which has a slot of no number.
func (t *Trie) start() node { return node{link: t.root<<10 | 3<<8} }

// Longest is the length of the longest piece that text begins with, 0 if there is none.
func (t *Trie) Longest(text string) int {
	longest := 0
	n := t.start()
	for i := 0; i < len(text) && n.leads(text[i]); i++ {
		slot := n.base() ^ uint32(text[i])
		if n = t.nodes[slot]; byte(n.link) != text[i] {
			break
		}
		if t.ids[slot] >= 0 {
			longest = i + 1
		}
	}
	return longest
}

// builder places nodes in slots. Free slots are in a ring, in the order of their numbers.
type builder struct {
	nodes          []node
	ids            []int32
	used           []bool // bases
	next, previous []int32
	first          int32 // free slot; -1: none
}

// newBuilder makes room for the nodes that so many pieces usually have.
func newBuilder(pieces int) *builder {
	n := 3*pieces + block
	return &builder{nodes: make([]node, 0, n), ids: make([]int32, 0, n), used: make([]bool, 0, n),
		next: make([]int32, 0, n), previous: make([]int32, 0, n), first: -1}
}

// place takes slots for the children of a node, by their labels, and returns the base. An only child fills the first
// gap that it can; others are tried from the end, where there is more room.
func (b *builder) place(labels []byte) uint32 {
	for at := b.first; at >= 0; {
		if len(labels) > 1 {
			at = b.previous[at]
		}
		if base := uint32(at) ^ uint32(labels[0]); b.fits(base, labels) {
			return b.take(base, labels)
		}
		if len(labels) == 1 {
			at = b.next[at]
		}
		if at == b.first {
			break
		}
	}
	start := len(b.nodes)
	b.grow()
	return b.take(uint32(start)+1, labels)
}

func (b *builder) fits(base uint32, labels []byte) bool {
	if base == 0 || b.used[base] {
		return false
	}
	for _, label := range labels {
		if b.next[base^uint32(label)] < 0 {
			return false
		}
	}
	return true
}

func (b *builder) take(base uint32, labels []byte) uint32 {
	b.used[base] = true
	for _, label := range labels {
		slot := int32(base ^ uint32(label))
		b.nodes[slot].link = uint32(label)
		b.unlink(slot)
	}
	return base
}

// unlink takes a slot out of the ring.
func (b *builder) unlink(slot int32) {
	next, previous := b.next[slot], b.previous[slot]
	b.next[previous], b.previous[next], b.next[slot] = next, previous, -1
	if b.first == slot {
		if b.first = next; next == slot {
			b.first = -1
		}
	}
}

// open is the number of blocks whose free slots are tried: gaps that are left in older ones fit hardly any node.
const open = 8

// grow appends a block of free slots, and gives up the oldest that is open.
func (b *builder) grow() {
	start := int32(len(b.nodes))
	for slot := max(0, start-open*block); slot < start-(open-1)*block; slot++ {
		if b.next[slot] >= 0 {
			b.unlink(slot)
		}
	}
	for slot := start; slot < start+block; slot++ {
		b.nodes, b.ids, b.used = append(b.nodes, node{score: none}), append(b.ids, -1), append(b.used, false)
		b.next, b.previous = append(b.next, slot+1), append(b.previous, slot-1)
	}
	first, last := start, start+block-1
	if b.first < 0 {
		b.first = start
	} else {
		first, b.previous[start] = b.first, b.previous[b.first]
		b.next[b.previous[start]] = start
	}
	b.next[last], b.previous[first] = first, last
}
