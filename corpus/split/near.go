package split

import (
	"math/bits"
	"unicode/utf8"
)

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
