package huggingface

import "slices"

// trie finds the pieces that a text begins with. The children of a node lie side by side, in the order of their
// labels.
type trie struct {
	nodes []node
	roots [256]int32 // children of the root, by label; 0: none
}

type node struct {
	child    int32 // the first
	id       int32 // -1: no piece ends here
	children uint16
	label    byte
}

// newTrie makes a trie; a piece's id is its index. Empty pieces are left out, and of equal ones the last counts.
func newTrie(pieces []string) *trie {
	order := make([]int32, len(pieces))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int {
		if pieces[a] < pieces[b] {
			return -1
		} else if pieces[a] > pieces[b] {
			return 1
		}
		return 0
	})
	t := &trie{nodes: []node{{id: -1}}}
	type span struct{ node, lo, hi, depth int }
	for todo := []span{{0, 0, len(order), 0}}; len(todo) > 0; todo = todo[1:] {
		s := todo[0]
		for s.lo < s.hi && len(pieces[order[s.lo]]) == s.depth {
			if s.depth > 0 {
				t.nodes[s.node].id = order[s.lo]
			}
			s.lo++
		}
		t.nodes[s.node].child = int32(len(t.nodes))
		for lo := s.lo; lo < s.hi; {
			label := pieces[order[lo]][s.depth]
			hi := lo + 1
			for hi < s.hi && pieces[order[hi]][s.depth] == label {
				hi++
			}
			todo = append(todo, span{len(t.nodes), lo, hi, s.depth + 1})
			t.nodes = append(t.nodes, node{id: -1, label: label})
			t.nodes[s.node].children++
			lo = hi
		}
	}
	root := t.nodes[0]
	for i := range int32(root.children) {
		t.roots[t.nodes[root.child+i].label] = root.child + i
	}
	return t
}

// prefixes calls yield with the length and the id of every piece that text begins with, the shortest first.
func (t *trie) prefixes(text string, yield func(length int, id int32)) {
	if text == "" {
		return
	}
	at := t.roots[text[0]]
	for i := 1; at != 0; i++ {
		n := &t.nodes[at]
		if n.id >= 0 {
			yield(i, n.id)
		}
		if i == len(text) {
			return
		}
		at = 0
		children := t.nodes[n.child:][:n.children]
		lo, hi := 0, len(children)
		for lo < hi {
			if middle := (lo + hi) / 2; children[middle].label < text[i] {
				lo = middle + 1
			} else {
				hi = middle
			}
		}
		if lo < len(children) && children[lo].label == text[i] {
			at = n.child + int32(lo)
		}
	}
}
