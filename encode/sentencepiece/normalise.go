package sentencepiece

import (
	"bytes"
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
