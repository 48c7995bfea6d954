package pattern

import (
	"slices"
)

// tree is a part of an expression.
type tree struct {
	node  node    // a node without branches
	kind  byte    // 's' sequence, 'a' alternatives, 'r' repeated, 'l' lookahead, 't' atomic, 'n' node
	parts []*tree // branches; empty for kind 'n'
	min   int
	max   int
	how   repetition
	not   bool
}

func letterSet(ranges [][2]rune) *tree {
	return &tree{kind: 'n', node: node{op: opSet, set: NewClass(ranges), min: 1, max: 1}}
}

// empty reports whether a tree matches the empty text.
func (t *tree) empty() bool {
	switch t.kind {
	case 's':
		return !slices.ContainsFunc(t.parts, func(p *tree) bool { return !p.empty() })
	case 'a':
		return slices.ContainsFunc(t.parts, (*tree).empty)
	case 'r':
		return t.min == 0 || t.parts[0].empty()
	case 't':
		return t.parts[0].empty()
	case 'l':
		return true
	}
	return t.node.op != opSet
}

// compile makes nodes that lead to next.
func compile(t *tree, next *node, copies *int) *node {
	if *copies++; *copies > maxCopies {
		return next
	}
	switch t.kind {
	case 's':
		for _, part := range slices.Backward(t.parts) {
			next = compile(part, next, copies)
		}
		return next
	case 'a':
		n := &node{op: opEither, next: next}
		for _, part := range t.parts {
			n.branches = append(n.branches, compile(part, next, copies))
		}
		return n
	case 'l':
		return &node{op: opAhead, not: t.not, next: next, branches: []*node{compile(t.parts[0], accept, copies)}}
	case 't':
		return &node{op: opAtomic, next: next, branches: []*node{compile(t.parts[0], accept, copies)}}
	case 'r':
		return compileRepeated(t, next, copies)
	}
	n := t.node
	n.next = next
	return &n
}

// compileRepeated makes a node of a set that is repeated, and copies of any other part.
func compileRepeated(t *tree, next *node, copies *int) *node {
	part := t.parts[0]
	if part.kind == 'n' && part.node.op == opSet {
		n := part.node
		n.min, n.max, n.how, n.next = t.min, t.max, t.how, next
		return &n
	}
	if t.how == possessive {
		inner := *t
		inner.how = greedy
		return &node{op: opAtomic, next: next, branches: []*node{compile(&inner, accept, copies)}}
	}
	either := func(inside, after *node) *node {
		if t.how == lazy {
			inside, after = after, inside
		}
		return &node{op: opEither, next: after, branches: []*node{inside, after}}
	}
	end := next
	if t.max < 0 {
		star := &node{op: opStar, how: t.how, next: next}
		star.branches = []*node{compile(part, star, copies)}
		next = star
	}
	for count := t.max; count > t.min && *copies <= maxCopies; count-- {
		next = either(compile(part, next, copies), end)
	}
	for count := 0; count < t.min && *copies <= maxCopies; count++ {
		next = compile(part, next, copies)
	}
	return next
}
