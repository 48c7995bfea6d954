package tokenizer

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/rivo/uniseg"

	"bitextmine/encode/sentencepiece"
	"bitextmine/encode/tokenizer/pattern"
)

// charsmap is SentencePiece's table of replacements.
type charsmap struct {
	*sentencepiece.Charsmap
	// known are letters that the table leaves as they are, and that are graphemes beside others of their kind.
	known [0xd7a4]bool
}

func newCharsmap(raw json.RawMessage) (*charsmap, error) {
	var p struct {
		Charsmap string `json:"precompiled_charsmap"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, fmt.Errorf("its normalizer cannot be read: %w", err)
	}
	table, err := base64.StdEncoding.DecodeString(p.Charsmap)
	if err != nil {
		return nil, errors.New("its precompiled_charsmap is damaged")
	}
	read, err := sentencepiece.NewCharsmap(table)
	if err != nil {
		return nil, err
	}
	c := &charsmap{Charsmap: read}
	for r := range c.known {
		replaced, ok := c.Shortest(string(rune(r)))
		c.known[r] = alone(rune(r)) && (!ok || replaced == string(rune(r)))
	}
	return c, nil
}

// alone reports whether a letter of the scripts that most text has is a grapheme if no mark follows it.
func alone(r rune) bool {
	switch {
	case r < 0x300:
		return r >= ' ' && r < 0x7f || r > 0xa0 && r != 0xa9 && r != 0xad && r != 0xae
	case r < 0x530:
		return r >= 0x370 && (r < 0x483 || r > 0x489)
	case r < 0x600:
		return r >= 0x531 && r < 0x590 || r >= 0x5d0 && r < 0x5eb
	}
	return r >= 0x620 && r < 0x64b || r >= 0x671 && r < 0x6d6 || r >= 0x904 && r < 0x93a || r >= 0xe01 && r < 0xe31 ||
		r >= 0x3400 && r < 0xa000 || r >= 0xac00
}

// simple is the length of the beginning of s whose letters stay as they are: the last is not one of it, unless it ends
// the text, because a mark may follow.
func (c *charsmap) simple(s string) int {
	before := 0
	for at := 0; ; {
		if at == len(s) {
			return at
		}
		r, n := pattern.LetterAt(s, at)
		if int(r) >= len(c.known) || !c.known[r] {
			return before
		}
		before, at = at, at+n
	}
}

// apply replaces graphemes of fewer than 6 bytes as a whole, and others letter by letter. (So does Hugging Face's
// library. SentencePiece takes the longest beginning of the text that the table has.)
func (c *charsmap) apply(s string) string {
	const whole = 6
	if c.simple(s) == len(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for rest := s; rest != ""; {
		if n := c.simple(rest); n > 0 {
			b.WriteString(rest[:n])
			rest = rest[n:]
			continue
		}
		var grapheme string
		grapheme, rest, _, _ = uniseg.FirstGraphemeClusterInString(rest, -1)
		if len(grapheme) < whole {
			if replaced, ok := c.Shortest(grapheme); ok {
				b.WriteString(replaced)
				continue
			}
		}
		for _, r := range grapheme {
			letter := string(r)
			if replaced, ok := c.Shortest(letter); ok {
				letter = replaced
			}
			b.WriteString(letter)
		}
	}
	return b.String()
}
