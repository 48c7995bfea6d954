package split

import (
	"math/bits"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

// edgeOf gives the characters that may be next to the place where an expression matches: the last ones of a pattern
// before it, the first ones of one after it. empty: the expression may match no character there, so any may be next.
func edgeOf(tree *syntax.Regexp, after bool) (ranges []rune, empty bool) {
	switch tree.Op {
	case syntax.OpLiteral:
		r := tree.Rune[len(tree.Rune)-1]
		if after {
			r = tree.Rune[0]
		}
		ranges = []rune{r, r}
		if tree.Flags&syntax.FoldCase != 0 {
			for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
				ranges = append(ranges, f, f)
			}
		}
		return ranges, false
	case syntax.OpCharClass:
		return tree.Rune, false
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return []rune{0, unicode.MaxRune}, false
	case syntax.OpCapture, syntax.OpPlus:
		return edgeOf(tree.Sub[0], after)
	case syntax.OpStar, syntax.OpQuest:
		ranges, _ = edgeOf(tree.Sub[0], after)
		return ranges, true
	case syntax.OpRepeat:
		ranges, empty = edgeOf(tree.Sub[0], after)
		return ranges, empty || tree.Min == 0
	case syntax.OpAlternate:
		for _, sub := range tree.Sub {
			more, none := edgeOf(sub, after)
			ranges, empty = append(slices.Clip(ranges), more...), empty || none
		}
		return ranges, empty
	case syntax.OpConcat:
		for k := range tree.Sub {
			sub := tree.Sub[k]
			if !after {
				sub = tree.Sub[len(tree.Sub)-1-k]
			}
			more, none := edgeOf(sub, after)
			if ranges = append(slices.Clip(ranges), more...); !none {
				return ranges, false
			}
		}
		return ranges, true
	}
	return nil, true // an assertion
}

// sorted orders ranges and joins those that overlap.
func sorted(ranges []rune) []rune {
	pairs := make([][2]rune, 0, len(ranges)/2)
	for k := 0; k < len(ranges); k += 2 {
		pairs = append(pairs, [2]rune{ranges[k], ranges[k+1]})
	}
	slices.SortFunc(pairs, func(a, b [2]rune) int { return int(a[0]) - int(b[0]) })
	var out []rune
	for _, p := range pairs {
		if n := len(out); n > 0 && p[0] <= out[n-1] {
			out[n-1] = max(out[n-1], p[1])
			continue
		}
		out = append(out, p[0], p[1])
	}
	return out
}

// nearRules are sets of rules, a bit each: those that may match next to a character, by the edges of their patterns.
type nearRules struct {
	edges []*charset              // edge characters of each rule; nil: any character may be next to it
	ascii [utf8.RuneSelf][]uint64 // rules by ASCII character; 64 rules a word
}

func newNearRules(edges []*charset) nearRules {
	n := nearRules{edges: edges}
	for c := range n.ascii {
		for word := range (len(edges) + 63) / 64 {
			n.ascii[c] = append(n.ascii[c], n.find(^uint64(0), word, rune(c)))
		}
	}
	return n
}

// among returns the rules of a word that may match next to a character.
func (n *nearRules) among(rules uint64, word int, r rune) uint64 {
	if r < utf8.RuneSelf {
		return rules & n.ascii[r][word]
	}
	return n.find(rules, word, r)
}

func (n *nearRules) find(rules uint64, word int, r rune) (set uint64) {
	for ; rules != 0; rules &= rules - 1 {
		k := bits.TrailingZeros64(rules)
		if 64*word+k >= len(n.edges) {
			break
		}
		if edge := n.edges[64*word+k]; edge == nil || edge.has(r) {
			set |= 1 << k
		}
	}
	return set
}
