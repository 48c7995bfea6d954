package split

import (
	"math/bits"
	"regexp/syntax"
	"slices"
	"unicode"
	"unicode/utf8"
)

const (
	// buckets is the number of weights.
	buckets = 1 << 16
	// before and after are how many characters on the left and on the right of a space are looked at.
	before, after = 5, 6
	// far is how many characters are searched for the next space.
	far = 80
	// corner is how many characters on either side of the next space are looked at.
	corner = 4
)

// spaceWindow holds the character classes around a space, from it outwards; 0: no character.
type spaceWindow struct {
	left, right [max(before, after)]rune
	sides       [2]neighbour // the space before it, and the one after it
}

// neighbour is the next space in a direction, or the end of the text.
type neighbour struct {
	distance      int          // distance in characters, at most far
	inner, beyond [corner]rune // classes of characters, from it towards the first space and away from that
}

// class is the same for characters that are alike to sentences.
func class(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z':
		return 'a'
	case r >= 'A' && r <= 'Z':
		return 'A'
	case unicode.IsDigit(r):
		return '0'
	case r == '“' || r == '”' || r == '"' || r == '‘' || r == '’' || r == '\'':
		return '"'
	}
	return r
}

// next is the character on one side of a place, and its bytes; 0: the text ends there.
func next(text string, at int, forward bool) (rune, int) {
	if forward {
		return utf8.DecodeRuneInString(text[at:])
	}
	return utf8.DecodeLastRuneInString(text[:at])
}

// look fills the window of the space text[from:to].
func (w *spaceWindow) look(text string, from, to int) {
	w.sides[0].look(text, from, false, &w.left)
	w.sides[1].look(text, to, true, &w.right)
}

// look goes from a place to the next space, and notes the first characters on the way.
func (n *neighbour) look(text string, at int, forward bool, near *[max(before, after)]rune) {
	*n, *near = neighbour{}, [max(before, after)]rune{}
	for n.distance < far {
		r, width := next(text, at, forward)
		if width == 0 || unicode.IsSpace(r) {
			fill(&n.inner, text, at, !forward)
			if width > 0 {
				fill(&n.beyond, text, step(at, width, forward), forward)
			}
			return
		}
		if n.distance < len(near) {
			near[n.distance] = class(r)
		}
		n.distance++
		at = step(at, width, forward)
	}
}

func step(at, width int, forward bool) int {
	if forward {
		return at + width
	}
	return at - width
}

// fill notes the characters on one side of a place, up to a space.
func fill(to *[corner]rune, text string, at int, forward bool) {
	for k := range to {
		r, width := next(text, at, forward)
		if width == 0 || unicode.IsSpace(r) {
			return
		}
		to[k] = class(r)
		at = step(at, width, forward)
	}
}

// size is the class of a distance.
func size(n int) rune {
	switch {
	case n < 8:
		return rune(n)
	case n < 16:
		return rune(8 + (n-8)/2)
	case n < 40:
		return rune(12 + (n-16)/6)
	case n < far:
		return rune(16 + (n-40)/20)
	}
	return 18
}

// mix adds a character to a hash (FNV-1a, folded).
func mix(h uint64, r rune) uint64 {
	h = (h ^ uint64(r)) * 1099511628211
	return h ^ h>>29
}

// hashes collects the features' places among the weights. Each kind of feature has a number.
type hashes struct {
	list   []uint32
	number uint64
}

// begin is the hash of a new kind of feature.
func (f *hashes) begin() uint64 {
	f.number++
	return mix(14695981039346656037, rune(f.number))
}

func (f *hashes) add(h uint64) { f.list = append(f.list, uint32((h^h>>32)%buckets)) }

// runs adds the first one, two ... of some characters.
func (f *hashes) runs(characters []rune) {
	h := f.begin()
	for _, r := range characters {
		h = mix(h, r)
		f.add(h)
	}
}

// both adds some characters as one feature.
func (f *hashes) both(characters ...rune) {
	h := f.begin()
	for _, r := range characters {
		h = mix(h, r)
	}
	f.add(h)
}

// features appends the places of a window's weights.
func (w *spaceWindow) features(dst []uint32) []uint32 {
	f := hashes{list: dst}
	f.runs(w.left[:before])
	f.runs(w.right[:after])
	f.both(w.left[0], w.right[0])
	f.both(w.left[0], w.left[1], w.right[0], w.right[1])
	f.both(w.left[0], w.left[1], w.left[2], w.right[0], w.right[1], w.right[2])
	left, right := size(w.sides[0].distance), size(w.sides[1].distance)
	f.both(left)
	f.both(right)
	f.both(left, right)
	f.both(w.left[0], w.right[0], left)
	f.both(w.left[0], w.right[0], right)
	for k := range w.sides {
		f.runs(w.sides[k].inner[:])
		f.runs(w.sides[k].beyond[:])
	}
	return f.list
}

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
