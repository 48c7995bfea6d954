package wordpiece

import (
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// words calls word with each word of text until it returns false. It is BERT's "basic tokenizer": a word is a run of
// letters between white space; each punctuation mark and each Chinese character is a word of its own. buf is scratch
// space and is returned for the next call.
func (v *Vocabulary) words(buf []byte, text string, word func([]byte) bool) []byte {
	if v.options.StripAccents {
		text = norm.NFD.String(text)
	}
	for _, r := range text {
		switch {
		case dropped(r) || v.options.StripAccents && unicode.Is(unicode.Mn, r):
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

// dropped reports whether BERT removes r: null, invalid Unicode, and control and format characters other than white
// space.
func dropped(r rune) bool {
	if r == '\t' || r == '\n' || r == '\r' {
		return false
	}
	return r == 0 || r == unicode.ReplacementChar || unicode.Is(unicode.C, r)
}

func blank(r rune) bool {
	return r == ' ' || r == '\t' || r == '\n' || r == '\r' || unicode.Is(unicode.Zs, r)
}

// punctuation reports whether r is punctuation in Unicode, or an ASCII character that is neither letter, digit nor
// space ("$", "+", "^").
func punctuation(r rune) bool {
	if r < 0x80 {
		return r > ' ' && r < '0' || r > '9' && r < 'A' || r > 'Z' && r < 'a' || r > 'z' && r < 0x7f
	}
	return unicode.Is(unicode.P, r)
}

// chinese reports whether r is in the blocks that BERT separates. Japanese kana and Korean are not in them.
func chinese(r rune) bool {
	return r >= 0x4E00 && r <= 0x9FFF || r >= 0x3400 && r <= 0x4DBF || r >= 0x20000 && r <= 0x2A6DF ||
		r >= 0x2A700 && r <= 0x2B73F || r >= 0x2B740 && r <= 0x2B81F || r >= 0x2B820 && r <= 0x2CEAF ||
		r >= 0xF900 && r <= 0xFAFF || r >= 0x2F800 && r <= 0x2FA1F
}
