package split

import (
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
