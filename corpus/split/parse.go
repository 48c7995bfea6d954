package split

import (
	_ "embed" // the weights
	"fmt"
	"iter"
	"regexp/syntax"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxWords is the number of words that an alternative may have.
const maxWords = 20_000

// wordSet is the characters of words.
var wordSet = func() *charset {
	tree, err := syntax.Parse(`[\p{L}\p{M}\p{N}_]`, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return newCharset(tree.Rune)
}()

// itemsOf divides an expression into items, if it is nothing else than a sequence of them.
func itemsOf(tree *syntax.Regexp, after bool) ([]item, bool) {
	if isBoundary(tree, after) {
		return []item{{boundary: true}}, true
	}
	if one, ok := single(tree); ok {
		return []item{{class: one, min: 1, max: 1}}, true
	}
	switch tree.Op {
	case syntax.OpCapture:
		return itemsOf(tree.Sub[0], after)
	case syntax.OpConcat:
		var all []item
		for _, sub := range tree.Sub {
			items, ok := itemsOf(sub, after)
			if !ok {
				return nil, false
			}
			all = append(all, items...)
		}
		// A boundary may only be where the text ends that the pattern sees.
		for k := range all {
			if all[k].boundary && (after && k != len(all)-1 || !after && k != 0) {
				return nil, false
			}
		}
		return all, true
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		one, ok := single(tree.Sub[0])
		if !ok || tree.Flags&syntax.NonGreedy != 0 {
			return nil, false
		}
		lowest, highest := tree.Min, tree.Max
		switch tree.Op {
		case syntax.OpStar:
			lowest, highest = 0, -1
		case syntax.OpPlus:
			lowest, highest = 1, -1
		case syntax.OpQuest:
			lowest, highest = 0, 1
		}
		return []item{{class: one, min: lowest, max: highest}}, true
	case syntax.OpLiteral, syntax.OpAlternate:
		if list, ok := literals(tree); ok {
			return []item{{words: newWords(list, after)}}, true
		}
	}
	return nil, false
}

// isBoundary recognises what translate writes for \b.
func isBoundary(tree *syntax.Regexp, after bool) bool {
	edge := syntax.OpBeginText
	if after {
		edge = syntax.OpEndText
	}
	return tree.Op == syntax.OpAlternate && len(tree.Sub) == 2 && tree.Sub[0].Op == edge &&
		tree.Sub[1].Op == syntax.OpCharClass && !newCharset(tree.Sub[1].Rune).overlap(wordSet)
}

// single is the class of an expression that matches one character.
func single(tree *syntax.Regexp) (*charset, bool) {
	switch tree.Op {
	case syntax.OpCapture:
		return single(tree.Sub[0])
	case syntax.OpCharClass:
		return newCharset(tree.Rune), true
	case syntax.OpLiteral:
		if len(tree.Rune) == 1 && tree.Flags&syntax.FoldCase == 0 {
			return newCharset([]rune{tree.Rune[0], tree.Rune[0]}), true
		}
	case syntax.OpAnyCharNotNL:
		return newCharset([]rune{0, '\n' - 1, '\n' + 1, unicode.MaxRune}), true
	case syntax.OpAnyChar:
		return newCharset([]rune{0, unicode.MaxRune}), true
	}
	return nil, false
}

// literals are the texts that an expression matches, if they are few. Go's parser divides alternatives into their
// common beginnings, so they are put together again.
func literals(tree *syntax.Regexp) ([]string, bool) {
	if tree.Flags&syntax.FoldCase != 0 && tree.Op == syntax.OpLiteral {
		return nil, false
	}
	switch tree.Op {
	case syntax.OpEmptyMatch:
		return []string{""}, true
	case syntax.OpLiteral:
		return []string{string(tree.Rune)}, true
	case syntax.OpCapture:
		return literals(tree.Sub[0])
	case syntax.OpQuest:
		list, ok := literals(tree.Sub[0])
		return append(list, ""), ok
	case syntax.OpCharClass:
		var list []string
		for k := 0; k < len(tree.Rune); k += 2 {
			for r := tree.Rune[k]; r <= tree.Rune[k+1]; r++ {
				if list = append(list, string(r)); len(list) > maxWords {
					return nil, false
				}
			}
		}
		return list, true
	case syntax.OpAlternate:
		var all []string
		for _, sub := range tree.Sub {
			list, ok := literals(sub)
			if !ok || len(all)+len(list) > maxWords {
				return nil, false
			}
			all = append(all, list...)
		}
		return all, true
	case syntax.OpConcat:
		all := []string{""}
		for _, sub := range tree.Sub {
			list, ok := literals(sub)
			if !ok || len(all)*len(list) > maxWords {
				return nil, false
			}
			var longer []string
			for _, a := range all {
				for _, b := range list {
					longer = append(longer, a+b)
				}
			}
			all = longer
		}
		return all, true
	}
	return nil, false
}

//go:embed thai.weights
var thai []byte

// Thai is the model of Thai.
var Thai = sync.OnceValue(func() *SpaceModel {
	m, err := ParseSpaces(thai)
	if err != nil {
		panic(err) // the file is part of the program
	}
	return m
})

// SpaceModel has the weights of features. It is only read, so any number of goroutines may use it.
type SpaceModel struct {
	weights [buckets]int8
}

// ParseSpaces reads a model: a byte for each weight.
func ParseSpaces(data []byte) (*SpaceModel, error) {
	if len(data) != buckets {
		return nil, fmt.Errorf("weights of spaces: %d bytes instead of %d", len(data), buckets)
	}
	m := &SpaceModel{}
	for k, b := range data {
		m.weights[k] = int8(b)
	}
	return m, nil
}

// Ends reports whether the space text[from:to] ends a sentence. text is a paragraph.
func (m *SpaceModel) Ends(text string, from, to int) bool {
	var w spaceWindow
	var room [64]uint32
	w.look(text, from, to)
	sum := 0
	for _, k := range w.features(room[:0]) {
		sum += int(m.weights[k])
	}
	return sum > 0
}

// Spaces yields where runs of white space begin and end that have something before and after them.
func Spaces(text string) iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		text, from := trimRight(text), -1
		seen := false
		for at, r := range text {
			switch {
			case unicode.IsSpace(r):
				if from < 0 {
					from = at
				}
			default:
				if from >= 0 && seen && !yield(from, at) {
					return
				}
				from, seen = -1, true
			}
		}
	}
}

func trimRight(text string) string {
	for text != "" {
		r, width := utf8.DecodeLastRuneInString(text)
		if !unicode.IsSpace(r) {
			break
		}
		text = text[:len(text)-width]
	}
	return text
}

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
