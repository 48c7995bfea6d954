// Package pattern finds the regular expressions of a tokenizer.json in a text, and has the sets of letters that Hugging
// Face's library knows.
package pattern

import (
	"errors"
	"unicode/utf8"
)

// Pattern is a regular expression of a tokenizer.json, which has Oniguruma's syntax and meaning: the first alternative
// that matches, with lookahead. Go's package regexp has no lookahead, and regexp2 takes about a microsecond a letter;
// this one computes what tokenizers have, and Parse refuses the rest. It is only read.
type Pattern struct {
	start *node
	// first are the bytes that a match can begin with.
	first [4]uint64
}

// operation of a node.
type operation byte

const (
	opSet    operation = iota // letters of a set, min to max times
	opEither                  // the first of the branches that matches, and the rest with it
	opStar                    // a branch any number of times
	opAhead                   // lookahead: the branch must match, or must not
	opAtomic                  // the first match of a branch
	opBegin                   // beginning of the text (^ of a line, too)
	opEnd                     // end of the text
)

// repetition is how often a part is tried first.
type repetition byte

const (
	greedy repetition = iota
	lazy
	possessive
)

// node is a step of matching. The nodes of a branch lead to the node after it, which next is.
type node struct {
	op       operation
	set      Class
	min, max int // max is -1 without a limit
	how      repetition
	branches []*node
	not      bool // opAhead: the branch must not match
	line     bool // opBegin, opEnd: of a line
	next     *node
	firsts   [][4]uint64 // bytes that each branch can begin with; nil: any
}

// accept is the end of a pattern or of a branch that is matched on its own.
var accept = &node{}

// maxSteps bounds the time of a match: expressions exist that take exponential time.
const maxSteps = 10_000_000

// ErrSteps ends a search that takes too long.
var ErrSteps = errors.New("a pattern of its tokenizer needs more than 10,000,000 steps for one text")

// Matcher finds matches in a text, and counts the steps that they take.
type Matcher struct {
	Text  string
	steps int
}

// Find returns the first match at or after from, or -1.
func (p *Pattern) Find(m *Matcher, from int) (begin, end int) {
	for from < len(m.Text) {
		if c := m.Text[from]; p.first[c>>6]>>(c&63)&1 != 0 {
			if end = m.match(p.start, from); end >= 0 {
				return from, end
			}
		}
		_, n := LetterAt(m.Text, from)
		from += n
	}
	return -1, -1
}

// Reset starts to count the steps of a text.
func (m *Matcher) Reset() { m.steps = 0 }

// Err is ErrSteps if the matches since Reset took too many.
func (m *Matcher) Err() error {
	if m.steps > maxSteps {
		return ErrSteps
	}
	return nil
}

// match is the end of the match of n and what follows it, or -1.
func (m *Matcher) match(n *node, at int) int {
	for n != accept {
		if m.steps++; m.steps > maxSteps {
			return -1
		}
		switch n.op {
		case opSet:
			if n.min != n.max {
				return m.repeat(n, at)
			}
			for range n.max {
				if at >= len(m.Text) {
					return -1
				}
				r, size := LetterAt(m.Text, at)
				if !n.set.Has(r) {
					return -1
				}
				at += size
			}
		case opEither:
			for i, branch := range n.branches {
				if n.firsts != nil && at < len(m.Text) && n.firsts[i][m.Text[at]>>6]>>(m.Text[at]&63)&1 == 0 {
					continue
				}
				if end := m.match(branch, at); end >= 0 {
					return end
				}
			}
			return -1
		case opStar:
			if n.how == greedy {
				if end := m.match(n.branches[0], at); end >= 0 {
					return end
				}
			} else if end := m.match(n.next, at); end >= 0 {
				return end
			} else {
				n = n.branches[0]
				continue
			}
		case opAhead:
			if (m.match(n.branches[0], at) >= 0) == n.not {
				return -1
			}
		case opAtomic:
			if at = m.match(n.branches[0], at); at < 0 {
				return -1
			}
		case opBegin:
			if at > 0 && !(n.line && m.Text[at-1] == '\n') {
				return -1
			}
		case opEnd:
			if at < len(m.Text) && !(n.line && m.Text[at] == '\n') {
				return -1
			}
		}
		n = n.next
	}
	return at
}

// repeat matches a set several times and what follows.
func (m *Matcher) repeat(n *node, at int) int {
	begin, count := at, 0
	if n.how == lazy {
		for {
			if count >= n.min {
				if end := m.match(n.next, at); end >= 0 {
					return end
				}
			}
			if at >= len(m.Text) || count == n.max {
				return -1
			}
			r, size := LetterAt(m.Text, at)
			if !n.set.Has(r) {
				return -1
			}
			at, count = at+size, count+1
		}
	}
	for at < len(m.Text) && count != n.max {
		r, size := LetterAt(m.Text, at)
		if !n.set.Has(r) {
			break
		}
		at, count = at+size, count+1
	}
	m.steps += count
	for ; count >= n.min; count-- {
		if end := m.match(n.next, at); end >= 0 || n.how == possessive {
			return end
		}
		if at == begin {
			return -1
		}
		_, size := utf8.DecodeLastRuneInString(m.Text[:at])
		at -= size
	}
	return -1
}

// begins adds the bytes that a match of n can begin with; whole reports whether it can be empty.
func (p *Pattern) begins(n *node, depth int) (empty bool) {
	all := func() bool {
		p.first = [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
		return false
	}
	if depth > maxDepth {
		return all()
	}
	for ; n != accept; n = n.next {
		switch n.op {
		case opSet:
			for i, word := range n.set.bits[:2] {
				p.first[i] |= word
			}
			if ranges := n.set.ranges; len(ranges) > 0 && ranges[len(ranges)-1][1] >= utf8.RuneSelf {
				p.first[2], p.first[3] = ^uint64(0), ^uint64(0)
			}
			if n.min > 0 {
				return false
			}
		case opEither:
			for _, branch := range n.branches {
				empty = p.begins(branch, depth+1) || empty
			}
			return empty
		case opStar, opAtomic:
			return all()
		}
	}
	return true
}

// prepare finds what matches begin with: that of the pattern, and of its branches.
func (p *Pattern) prepare() {
	if n := p.start; n.op == opEither {
		for _, branch := range n.branches {
			var one Pattern
			if one.begins(branch, 0) {
				one.first = [4]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
			}
			n.firsts = append(n.firsts, one.first)
		}
	}
	p.begins(p.start, 0)
}
