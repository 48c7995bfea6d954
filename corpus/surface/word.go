package surface

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FNV-1a, 32 bits, over runes.
const (
	hashStart = 2166136261
	hashPrime = 16777619
)

func mix(hash uint32, r rune) uint32 { return (hash ^ uint32(r)) * hashPrime }

// digits hashes the number at the start of text, without leading zeros and without separators between digits ("1,000",
// "1.000" and "1000" are equal). It returns the number's bytes and runes. Digits of every script count by their value.
func digits(text string) (hash uint32, length, runes int) {
	hash = hashStart
	leading := true
	separator := false
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		switch {
		case IsDigit(r):
			value := Digit(r)
			leading = leading && value == 0
			if !leading {
				hash = mix(hash, '0'+value)
			}
			if separator {
				runes++
			}
			separator = false
			i += width
			length = i
			runes++
		case !separator && (r == '.' || r == ',' || r == ':'):
			separator = true // belongs to the number if a digit follows
			i += width
		default:
			return hash, length, runes
		}
	}
	return hash, length, runes
}

// IsDigit reports whether r is a decimal digit of any script.
func IsDigit(r rune) bool {
	if r < utf8.RuneSelf {
		return '0' <= r && r <= '9'
	}
	return unicode.Is(unicode.Nd, r)
}

// Digit is the value of a decimal digit. In Unicode the ten digits of a script are consecutive.
func Digit(r rune) rune {
	if r < utf8.RuneSelf {
		return r - '0'
	}
	for _, block := range unicode.Nd.R16 {
		if rune(block.Lo) <= r && r <= rune(block.Hi) {
			return (r - rune(block.Lo)) % 10
		}
	}
	for _, block := range unicode.Nd.R32 {
		if rune(block.Lo) <= r && r <= rune(block.Hi) {
			return (r - rune(block.Lo)) % 10
		}
	}
	return 0
}

// unspaced lists scripts that are written without spaces between words. A run of their letters is not a word.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// IsWordLetter reports whether r is a letter of a script that has spaces between words.
func IsWordLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return unicode.IsLetter(r) && (r < 0x0e00 || !unicode.In(r, unspaced...))
}

// Word is the word at the start of a text. Its hashes ignore case and accents.
type Word struct {
	Hash, Stem   uint32 // of the whole word, of its first five letters
	Bytes, Runes int
	Capital      bool // it begins with a capital
}

// WordAt reads the word at the start of text: a letter and the letters, digits and apostrophes after it.
func WordAt(text string) Word {
	w := Word{Hash: hashStart, Stem: hashStart}
	for w.Bytes < len(text) {
		r, width := utf8.DecodeRuneInString(text[w.Bytes:])
		if r != '\'' && r != '’' && !IsWordLetter(r) && (w.Runes == 0 || !IsDigit(r)) {
			if r < utf8.RuneSelf || !unicode.Is(unicode.M, r) {
				break
			}
			w.Bytes += width // a combining mark is an accent, which is ignored
			continue
		}
		if w.Runes == 0 {
			w.Capital = unicode.IsUpper(r)
		}
		base := Fold(text[w.Bytes : w.Bytes+width])
		w.Hash = mix(w.Hash, base)
		if w.Runes < stem {
			w.Stem = mix(w.Stem, base)
		}
		w.Bytes += width
		w.Runes++
	}
	return w
}

// Fold returns a rune's base letter in lower case.
func Fold(encoded string) rune {
	r := rune(encoded[0])
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	if decomposed := norm.NFD.PropertiesString(encoded).Decomposition(); decomposed != nil {
		r, _ = utf8.DecodeRune(decomposed)
	} else {
		r, _ = utf8.DecodeRuneInString(encoded)
	}
	return unicode.ToLower(r)
}

// eliding are the languages whose articles and other short words are written together with the next word.
var eliding = map[string]bool{"ca": true, "fr": true, "it": true}

// elided are such words, without their apostrophe.
var elided = func() map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.Fields("c d j l m n s t v qu jusqu lorsqu puisqu quoiqu all dall dell nell sull un quest quell anch sant") {
		words[word] = true
	}
	return words
}()
