package feature

import (
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

// number hashes the number at the start of text, without leading zeros and without separators between digits ("1,000",
// "1.000" and "1000" are equal). It returns the number's bytes and runes. Digits of every script count by their value.
func number(text string) (hash uint32, length, runes int) {
	hash = hashStart
	leading := true
	separator := false
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		switch {
		case isDigit(r):
			value := digit(r)
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

func isDigit(r rune) bool {
	if r < utf8.RuneSelf {
		return '0' <= r && r <= '9'
	}
	return unicode.Is(unicode.Nd, r)
}

// digit is the value of a decimal digit. In Unicode the ten digits of a script are consecutive.
func digit(r rune) rune {
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

func isWordLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return unicode.IsLetter(r) && (r < 0x0e00 || !unicode.In(r, unspaced...))
}

// addWord adds the word at the start of text to s's names and stems. It returns the word's hash, bytes and runes. A
// word is a letter and the letters, digits and apostrophes after it. Hashes ignore case and accents.
func addWord(s *Surface, text string) (whole uint32, length, runes int) {
	whole = hashStart
	first := uint32(hashStart)
	capital := false
	for length < len(text) {
		r, width := utf8.DecodeRuneInString(text[length:])
		if r != '\'' && r != '’' && !isWordLetter(r) && (runes == 0 || !isDigit(r)) {
			if r < utf8.RuneSelf || !unicode.Is(unicode.M, r) {
				break
			}
			length += width // a combining mark is an accent, which is ignored
			continue
		}
		if runes == 0 {
			capital = unicode.IsUpper(r)
		}
		base := fold(text[length : length+width])
		whole = mix(whole, base)
		if runes < stem {
			first = mix(first, base)
		}
		length += width
		runes++
	}
	if capital && runes >= minName {
		s.Names = append(s.Names, whole)
	}
	if runes >= minStem {
		s.Stems = append(s.Stems, first)
	}
	return whole, length, runes
}

// fold returns a rune's base letter in lower case.
func fold(encoded string) rune {
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
