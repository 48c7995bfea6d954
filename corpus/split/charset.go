package split

import (
	"sort"
	"unicode/utf8"
)

// charset is a class of characters.
type charset struct {
	ascii  [utf8.RuneSelf]bool
	ranges []rune // pairs of first and last, ascending
}

func newCharset(ranges []rune) *charset {
	c := &charset{ranges: ranges}
	for r := range rune(utf8.RuneSelf) {
		c.ascii[r] = c.among(r)
	}
	return c
}

func (c *charset) among(r rune) bool {
	k := sort.Search(len(c.ranges)/2, func(k int) bool { return c.ranges[2*k+1] >= r })
	return 2*k < len(c.ranges) && c.ranges[2*k] <= r
}

func (c *charset) has(r rune) bool {
	if r < utf8.RuneSelf {
		return c.ascii[r]
	}
	return c.among(r)
}

// next returns the width of the character at a place, and whether it belongs to the class.
func (c *charset) next(text string, at int) (int, bool) {
	if at < len(text) && text[at] < utf8.RuneSelf {
		return 1, c.ascii[text[at]]
	}
	return c.nextWide(text, at)
}

func (c *charset) nextWide(text string, at int) (int, bool) {
	if at >= len(text) {
		return 0, false
	}
	r, width := utf8.DecodeRuneInString(text[at:])
	return width, c.among(r)
}

// last returns the width of the character before a place, and whether it belongs to the class.
func (c *charset) last(text string, at int) (int, bool) {
	if at > 0 && text[at-1] < utf8.RuneSelf {
		return 1, c.ascii[text[at-1]]
	}
	return c.lastWide(text, at)
}

func (c *charset) lastWide(text string, at int) (int, bool) {
	if at <= 0 {
		return 0, false
	}
	r, width := utf8.DecodeLastRuneInString(text[:at])
	return width, c.among(r)
}

// overlap reports whether two classes have a character in common.
func (c *charset) overlap(d *charset) bool {
	for i, j := 0, 0; i < len(c.ranges) && j < len(d.ranges); {
		if c.ranges[i] <= d.ranges[j+1] && d.ranges[j] <= c.ranges[i+1] {
			return true
		}
		if c.ranges[i+1] < d.ranges[j+1] {
			i += 2
		} else {
			j += 2
		}
	}
	return false
}
