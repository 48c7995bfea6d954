package split

// words is a set of texts, as a tree of their bytes: from the last byte if they stand before a place.
type words struct {
	root  [256]int32 // the first node of each byte; 0: none
	nodes []node     // the first is the root, with the empty text
}

type node struct {
	whole    bool // a text ends here
	children []child
}

type child struct {
	b    byte
	node int32
}

func newWords(list []string, after bool) *words {
	w := &words{nodes: []node{{}}}
	for _, text := range list {
		at := int32(0)
		for i := range len(text) {
			c := text[i]
			if !after {
				c = text[len(text)-1-i]
			}
			next := w.child(at, c)
			if next == 0 {
				next = int32(len(w.nodes))
				w.nodes = append(w.nodes, node{})
				if at == 0 {
					w.root[c] = next
				} else {
					w.nodes[at].children = append(w.nodes[at].children, child{c, next})
				}
			}
			at = next
		}
		w.nodes[at].whole = true
	}
	return w
}

// child is the node after another by a byte; 0: there is none.
func (w *words) child(at int32, b byte) int32 {
	if at == 0 {
		return w.root[b]
	}
	for _, c := range w.nodes[at].children {
		if c.b == b {
			return c.node
		}
	}
	return 0
}

// before reports whether a text ends at a place and the items match before it.
func (w *words) before(items []item, text string, at int, steps *int) bool {
	for n := int32(0); ; at-- {
		if w.nodes[n].whole && matchBackward(items, text, at, steps) {
			return true
		}
		if at == 0 {
			return false
		}
		if n = w.child(n, text[at-1]); n == 0 {
			return false
		}
	}
}

// after reports whether a text begins at a place and the items match after it.
func (w *words) after(items []item, text string, at int, steps *int) bool {
	for n := int32(0); ; at++ {
		if w.nodes[n].whole && matchForward(items, text, at, steps) {
			return true
		}
		if at == len(text) {
			return false
		}
		if n = w.child(n, text[at]); n == 0 {
			return false
		}
	}
}
