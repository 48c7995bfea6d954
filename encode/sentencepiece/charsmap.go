package sentencepiece

import (
	"encoding/binary"
	"errors"
	"strings"
)

// Charsmap is SentencePiece's table of replacements of characters, its precompiled_charsmap: a double array of
// darts-clone whose leaves are places in text.
type Charsmap struct {
	units []uint32
	text  string
}

// NewCharsmap reads a table.
func NewCharsmap(table []byte) (*Charsmap, error) {
	const size = 4
	if len(table) < size {
		return nil, errors.New("its precompiled_charsmap is damaged")
	}
	n := binary.LittleEndian.Uint32(table)
	table = table[size:]
	if uint64(n) > uint64(len(table)) || n%size != 0 || n == 0 {
		return nil, errors.New("its precompiled_charsmap is damaged")
	}
	c := &Charsmap{units: make([]uint32, n/size), text: string(table[n:])}
	for i := range c.units {
		c.units[i] = binary.LittleEndian.Uint32(table[size*i:])
	}
	return c, nil
}

// offset is how far a unit's children are.
func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }

// find calls yield with every beginning of chunk that the table has: its length and its value, the shortest first.
func (c *Charsmap) find(chunk string, yield func(length int, value uint32) bool) {
	at := offset(c.units[0])
	for i := range len(chunk) {
		at ^= uint32(chunk[i])
		if int(at) >= len(c.units) {
			return
		}
		unit := c.units[at]
		if unit&(1<<31|0xff) != uint32(chunk[i]) {
			return
		}
		if at ^= offset(unit); int(at) >= len(c.units) {
			return
		}
		if unit>>8&1 == 1 && !yield(i+1, c.units[at]&(1<<31-1)) {
			return
		}
	}
}

// Shortest replaces the shortest prefix of chunk that is in the table.
func (c *Charsmap) Shortest(chunk string) (replaced string, ok bool) {
	c.find(chunk, func(_ int, value uint32) bool {
		replaced, ok = c.replacement(value)
		return false
	})
	return replaced, ok
}

// Longest is the length of the longest beginning of chunk that the table has, and what replaces it. The length is 0 if
// the table has none.
func (c *Charsmap) Longest(chunk string) (length int, replaced string) {
	var last uint32
	c.find(chunk, func(n int, value uint32) bool {
		length, last = n, value
		return true
	})
	if length > 0 {
		replaced, _ = c.replacement(last)
	}
	return length, replaced
}

func (c *Charsmap) replacement(value uint32) (string, bool) {
	if int(value) > len(c.text) {
		return "", false
	}
	replaced, _, _ := strings.Cut(c.text[value:], "\x00")
	return replaced, true
}

// Plain reports whether the table leaves the ASCII character b as it is wherever another ASCII character, or none,
// comes next.
func (c *Charsmap) Plain(b byte) bool {
	at := offset(c.units[0]) ^ uint32(b)
	if int(at) >= len(c.units) || c.units[at]&(1<<31|0xff) != uint32(b) {
		return true
	}
	unit := c.units[at]
	at ^= offset(unit)
	if unit>>8&1 == 1 {
		return false
	}
	for next := range uint32(0x80) {
		if to := int(at ^ next); to < len(c.units) && c.units[to]&(1<<31|0xff) == next {
			return false
		}
	}
	return true
}
