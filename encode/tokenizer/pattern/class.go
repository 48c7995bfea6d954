package pattern

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// Class is a set of letters: sorted ranges without gaps of zero between them, and a bit for each letter of the basic
// plane.
type Class struct {
	ranges [][2]rune
	bits   *[1 << 10]uint64
}

// NewClass makes a Class of ranges in any order.
func NewClass(ranges [][2]rune) Class {
	slices.SortFunc(ranges, func(a, b [2]rune) int { return int(a[0] - b[0]) })
	var all [][2]rune
	for _, r := range ranges {
		if n := len(all); n > 0 && r[0] <= all[n-1][1]+1 {
			all[n-1][1] = max(all[n-1][1], r[1])
		} else {
			all = append(all, r)
		}
	}
	c := Class{ranges: all, bits: new([1 << 10]uint64)}
	for _, r := range all {
		for at := r[0]; at <= min(r[1], 0xffff); at++ {
			c.bits[at>>6] |= 1 << (at & 63)
		}
	}
	return c
}

// Has reports whether the class has a letter.
func (c Class) Has(r rune) bool {
	if r <= 0xffff {
		return c.bits[r>>6]>>(r&63)&1 != 0
	}
	lo, hi := 0, len(c.ranges)
	for lo < hi {
		if middle := (lo + hi) / 2; c.ranges[middle][1] < r {
			lo = middle + 1
		} else {
			hi = middle
		}
	}
	return lo < len(c.ranges) && c.ranges[lo][0] <= r
}

// Negated returns the ranges of all other letters.
func Negated(ranges [][2]rune) [][2]rune {
	var all [][2]rune
	next := rune(0)
	for _, r := range NewClass(slices.Clone(ranges)).ranges {
		if r[0] > next {
			all = append(all, [2]rune{next, r[0] - 1})
		}
		next = r[1] + 1
	}
	if next <= unicode.MaxRune {
		all = append(all, [2]rune{next, unicode.MaxRune})
	}
	return all
}

// Both returns the ranges of the letters that a and b have.
func Both(a, b [][2]rune) [][2]rune {
	return Negated(slices.Concat(Negated(a), Negated(b)))
}

// RangesOf are the ranges of tables.
func RangesOf(tables ...*unicode.RangeTable) [][2]rune {
	var all [][2]rune
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			all = append(all, [2]rune{lo, hi})
			return
		}
		for r := lo; r <= hi; r += stride {
			all = append(all, [2]rune{r, r})
		}
	}
	for _, t := range tables {
		for _, r := range t.R16 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
		for _, r := range t.R32 {
			add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
		}
	}
	return all
}

// folded adds the letters that are equal to one of the ranges but for their case.
func folded(ranges [][2]rune) [][2]rune {
	all := slices.Clone(ranges)
	for _, r := range ranges {
		for c := r[0]; c <= r[1]; c++ {
			for other := unicode.SimpleFold(c); other != c; other = unicode.SimpleFold(other) {
				all = append(all, [2]rune{other, other})
			}
		}
	}
	return all
}

// later16 are the letters that Unicode 16, which Hugging Face's library has, gives to a category and Go's tables of
// Unicode 15 do not. The golden files compare both.
var later16 = map[string][][2]rune{
	"Lu": {{0x1c89, 0x1c89}, {0xa7cb, 0xa7cc}, {0xa7da, 0xa7da}, {0xa7dc, 0xa7dc}, {0x10d50, 0x10d65}},
	"Ll": {{0x1c8a, 0x1c8a}, {0xa7cd, 0xa7cd}, {0xa7db, 0xa7db}, {0x10d70, 0x10d85}},
	"Lm": {{0x10d4e, 0x10d4e}, {0x10d6f, 0x10d6f}, {0x16d40, 0x16d42}, {0x16d6b, 0x16d6c}},
	"Lo": {{0x105c0, 0x105f3}, {0x10d4a, 0x10d4d}, {0x10d4f, 0x10d4f}, {0x10ec2, 0x10ec4}, {0x11380, 0x11389},
		{0x1138b, 0x1138b}, {0x1138e, 0x1138e}, {0x11390, 0x113b5}, {0x113b7, 0x113b7}, {0x113d1, 0x113d1},
		{0x113d3, 0x113d3}, {0x11bc0, 0x11be0}, {0x13460, 0x143fa}, {0x16100, 0x1611d}, {0x16d43, 0x16d6a},
		{0x18cff, 0x18cff}, {0x1e5d0, 0x1e5ed}, {0x1e5f0, 0x1e5f0}, {0x2ebf0, 0x2ee5d}},
	"Mn": {{0x897, 0x897}, {0x10d69, 0x10d6d}, {0x10efc, 0x10efc}, {0x113bb, 0x113c0}, {0x113ce, 0x113ce},
		{0x113d0, 0x113d0}, {0x113d2, 0x113d2}, {0x113e1, 0x113e2}, {0x11f5a, 0x11f5a}, {0x1611e, 0x16129},
		{0x1612d, 0x1612f}, {0x1e5ee, 0x1e5ef}},
	"Mc": {{0x113b8, 0x113ba}, {0x113c2, 0x113c2}, {0x113c5, 0x113c5}, {0x113c7, 0x113ca}, {0x113cc, 0x113cd},
		{0x113cf, 0x113cf}, {0x1171e, 0x1171e}, {0x1612a, 0x1612c}},
	"Nd": {{0x10d40, 0x10d49}, {0x116d0, 0x116e3}, {0x11bf0, 0x11bf9}, {0x16130, 0x16139}, {0x16d70, 0x16d79},
		{0x1ccf0, 0x1ccf9}, {0x1e5f1, 0x1e5fa}},
	"Pd": {{0x10d6e, 0x10d6e}},
	"Po": {{0x1b4e, 0x1b4f}, {0x1b7f, 0x1b7f}, {0x113d4, 0x113d5}, {0x113d7, 0x113d8}, {0x11be1, 0x11be1},
		{0x16d6d, 0x16d6f}, {0x1e5ff, 0x1e5ff}},
	"Sm": {{0x10d8e, 0x10d8f}},
	"So": {{0x2427, 0x2429}, {0x2ffc, 0x2fff}, {0x31e4, 0x31e5}, {0x31ef, 0x31ef}, {0x1cc00, 0x1ccef},
		{0x1cd00, 0x1ceb3}, {0x1f8b2, 0x1f8bb}, {0x1f8c0, 0x1f8c1}, {0x1fa89, 0x1fa89}, {0x1fa8f, 0x1fa8f},
		{0x1fabe, 0x1fabe}, {0x1fac6, 0x1fac6}, {0x1fadc, 0x1fadc}, {0x1fadf, 0x1fadf}, {0x1fae9, 0x1fae9},
		{0x1fbcb, 0x1fbef}},
	"Han":      {{0x2ebf0, 0x2ee5d}},
	"Latin":    {{0xa7cb, 0xa7cd}, {0xa7da, 0xa7dc}},
	"Cyrillic": {{0x1c89, 0x1c8a}},
	"Arabic":   {{0x897, 0x897}, {0x10ec2, 0x10ec4}, {0x10efc, 0x10efc}},
	"Myanmar":  {{0x116d0, 0x116e3}},
}

// property returns the letters of \p{name}: a category, or a script that the golden files compare.
func property(name string) ([][2]rune, bool) {
	table, ok := unicode.Categories[name]
	if !ok {
		switch name {
		case "Han", "Latin", "Cyrillic", "Arabic", "Myanmar", "Hiragana", "Katakana", "Hangul", "Thai", "Greek",
			"Hebrew", "Devanagari", "Lao", "Khmer", "Bengali":
			table = unicode.Scripts[name]
		default:
			return nil, false
		}
	}
	ranges := slices.Concat(RangesOf(table), later16[name])
	if len(name) == 1 {
		for category, more := range later16 {
			switch {
			case len(category) == 2 && category[:1] == name:
				ranges = append(ranges, more...)
			case len(category) == 2 && name == "C":
				ranges = Both(ranges, Negated(more))
			}
		}
	}
	switch name {
	case "Mn":
		ranges = Both(ranges, Negated([][2]rune{{0x1171e, 0x1171e}})) // it is Mc now
	case "C", "Cn", "Cs", "LC":
		return ranges, name == "C" // Go has no unassigned letters
	}
	return ranges, true
}

// Sets of letters with a name, as Oniguruma has them.
var (
	spaceRanges = RangesOf(unicode.White_Space)
	digitRanges = slices.Concat(RangesOf(unicode.Nd), later16["Nd"])
	letters     = slices.Concat(RangesOf(unicode.L, unicode.M, unicode.Nl, unicode.Pc, unicode.Other_Alphabetic),
		digitRanges, later16["Lu"], later16["Ll"], later16["Lm"], later16["Lo"], later16["Mn"], later16["Mc"])
	// Oniguruma counts superscript digits and fractions of Latin-1 as letters of words.
	wordRanges = slices.Concat(letters, [][2]rune{{0xb2, 0xb3}, {0xb9, 0xb9}, {0xbc, 0xbe}})
	// RustWord are the letters of words for Rust's regular expressions, which have the joiners.
	RustWord = NewClass(slices.Concat(letters, [][2]rune{{0x200c, 0x200d}}))
	// Numbers are the numbers of Unicode 17, as in Rust's char.
	Numbers = NewClass(slices.Concat(RangesOf(unicode.N), later16["Nd"],
		[][2]rune{{0x11de0, 0x11de9}, {0x16ff4, 0x16ff6}}))
	// Spaces are Unicode's white space.
	Spaces = NewClass(slices.Clone(spaceRanges))
)

// LetterAt is the letter at the beginning of s and its length.
func LetterAt(s string, at int) (rune, int) {
	if c := s[at]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(s[at:])
}
