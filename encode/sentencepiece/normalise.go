package sentencepiece

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf8"
)

// normaliser replaces characters and white space before a text is split.
type normaliser struct {
	charsmap *Charsmap // nil: no character is replaced
	marked   *Trie     // pieces that are left as they are; nil: none
	space    string    // replacement of a space
	prefix   bool      // one is written before the text
	suffix   bool      // or after it
	extra    bool      // spaces at the ends, and all but one inside, are left out
	// plain characters are copied if another ASCII character, or none, comes next.
	plain [utf8.RuneSelf]bool
}

// set reports whether it can do what the model asks for.
func (n *normaliser) set(s *specification, marked []string) bool {
	n.space, n.prefix, n.suffix, n.extra = " ", s.prefix && !s.suffix, s.prefix && s.suffix, s.extra
	if s.escape {
		n.space = "▁"
	}
	if len(s.charsmap) > 0 {
		var err error
		if n.charsmap, err = NewCharsmap(s.charsmap); err != nil {
			return false
		}
	}
	if len(marked) > 0 {
		if n.marked, _ = NewTrie(marked); n.marked == nil {
			return false
		}
	}
	for b := range n.plain {
		n.plain[b] = n.charsmap == nil || n.charsmap.Plain(byte(b))
	}
	for _, piece := range marked {
		if piece[0] < utf8.RuneSelf {
			n.plain[piece[0]] = false
		}
	}
	return true
}

// append appends a normalised text.
func (n *normaliser) append(out []byte, text string) []byte {
	if n.extra {
		for text != "" {
			length, replaced := n.next(text)
			if replaced != " " {
				break
			}
			text = text[length:]
		}
	}
	if text == "" {
		return out
	}
	if n.prefix {
		out = append(out, n.space...)
	}
	out = n.replace(out, text)
	if n.extra {
		for space := []byte(n.space); bytes.HasSuffix(out, space); {
			out = out[:len(out)-len(space)]
		}
	}
	if n.suffix {
		out = append(out, n.space...)
	}
	return out
}

// replace appends a text's characters and what replaces them.
func (n *normaliser) replace(out []byte, text string) []byte {
	after := n.extra // a space, so that another is left out
	for at := 0; at < len(text); {
		if c := text[at]; c < utf8.RuneSelf && n.plain[c] && (at+1 == len(text) || text[at+1] < utf8.RuneSelf) {
			at++
			if c != ' ' {
				out, after = append(out, c), false
			} else if !after {
				out, after = append(out, n.space...), n.extra
			}
			continue
		}
		length, replaced := n.next(text[at:])
		at += length
		if after {
			replaced = strings.TrimLeft(replaced, " ")
		}
		if replaced == "" {
			continue
		}
		after = n.extra && replaced[len(replaced)-1] == ' '
		for range strings.Count(replaced, " ") {
			word, rest, _ := strings.Cut(replaced, " ")
			out, replaced = append(append(out, word...), n.space...), rest
		}
		out = append(out, replaced...)
	}
	return out
}

// next is the length of what is replaced at the beginning of text, at least 1, and its replacement.
func (n *normaliser) next(text string) (int, string) {
	if n.marked != nil {
		if length := n.marked.Longest(text); length > 0 {
			return length, text[:length]
		}
	}
	if n.charsmap != nil {
		if length, replaced := n.charsmap.Longest(text); length > 0 {
			return length, replaced
		}
	}
	r, length := utf8.DecodeRuneInString(text)
	if r == utf8.RuneError && length == 1 {
		return 1, string(utf8.RuneError)
	}
	return length, text[:length]
}

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
