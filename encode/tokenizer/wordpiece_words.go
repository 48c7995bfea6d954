package tokenizer

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// words calls word with each word of text until it returns false. It is BERT's "basic tokenizer": a word is a run of
// letters between white space; each punctuation mark and each Chinese character is a word of its own. buf is scratch
// space and is returned for the next call.
func (v *WordPiece) words(buf []byte, text string, word func([]byte) bool) []byte {
	if v.options.StripAccents {
		text = norm.NFD.String(text)
	}
	for _, r := range text {
		switch {
		case dropped(r) || v.options.StripAccents && mark(r):
			continue
		case blank(r):
			if len(buf) > 0 && !word(buf) {
				return buf
			}
			buf = buf[:0]
		case punctuation(r) || chinese(r):
			if len(buf) > 0 && !word(buf) {
				return buf
			}
			buf = append(buf[:0], string(r)...)
			if !word(buf) {
				return buf
			}
			buf = buf[:0]
		default:
			buf = append(buf, string(r)...)
		}
	}
	if len(buf) > 0 {
		word(buf)
	}
	return buf
}

// dropped reports whether BERT removes r: null, invalid Unicode, and control, format and private-use characters other
// than white space. Hugging Face's library keeps code points that are not assigned, and so does this one.
func dropped(r rune) bool {
	if r == '\t' || r == '\n' || r == '\r' {
		return false
	}
	return r == 0 || r == unicode.ReplacementChar || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co) &&
		!later(laterControls, r)
}

// blank reports whether r is white space, line and paragraph separators among it.
func blank(r rune) bool { return unicode.Is(unicode.White_Space, r) }

// punctuation reports whether r is punctuation in Unicode, or an ASCII character that is neither letter, digit nor
// space ("$", "+", "^").
func punctuation(r rune) bool {
	if r < 0x80 {
		return r > ' ' && r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z' && r < 0x7f
	}
	// The last two were punctuation in Unicode 8.
	return unicode.Is(unicode.P, r) && !later(laterPunctuation, r) || r == 0x166d || r == 0x111c9
}

// mark reports whether r is a mark that accents are made of.
func mark(r rune) bool {
	return unicode.Is(unicode.Mn, r) && !later(laterMarks, r) || r == 0x1734 // so it was, in Unicode 8
}

// chinese reports whether r is in the blocks that BERT separates. Japanese kana and Korean are not in them. (The
// block from 2B820 begins at 2B920 in Hugging Face's library.)
func chinese(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B920 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}
