package filter

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"bitextmine/mine"
)

const (
	leastName = 3 // letters of a capitalised word that counts as a name
	leastStem = 4 // letters of a word that can be a cognate
	stem      = 5 // letters of it that are compared: endings differ between languages
)

// markOf is the kind of punctuation that a rune is, of eight that are counted.
func markOf(r rune) (kind int, ok bool) {
	switch r {
	case '?', '？':
		return 0, true
	case '!', '！':
		return 1, true
	case '"', '“', '”', '„', '«', '»', '「', '」':
		return 2, true
	case '(', '（':
		return 3, true
	case ':', '：':
		return 4, true
	case '%', '％':
		return 5, true
	case ';', '；':
		return 6, true
	case '-', '–', '—':
		return 7, true
	}
	return 0, false
}

// FactsOf reads a normalised text of a language.
func FactsOf(language, text string) mine.Facts {
	var f mine.Facts
	words, runes := negationHashes[language], negatingRunes[language]
	if words != nil || runes != "" {
		f.Negation = mine.Affirmed
	}
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		switch {
		case isDigit(r):
			hash, length, long := number(text[i:])
			f.Numbers = append(f.Numbers, hash)
			f.Length += int32(long)
			i += length
			continue
		case isWordLetter(r):
			hash, length, long := addWord(&f, text[i:])
			if words[hash] {
				f.Negation = mine.Negated
			}
			f.Length += int32(long)
			i += length
			continue
		default:
			if kind, ok := markOf(r); ok && f.Marks[kind] < 255 {
				f.Marks[kind]++
			}
			if runes != "" && strings.ContainsRune(runes, r) {
				f.Negation = mine.Negated
			}
		}
		f.Length++
		i += width
	}
	slices.Sort(f.Numbers)
	f.Names, f.Stems = distinct(f.Names), distinct(f.Stems)
	return f
}

func distinct(hashes []uint32) []uint32 {
	slices.Sort(hashes)
	return slices.Compact(hashes)
}

// FNV-1a, 32 bits, over runes.
const (
	hashStart = 2166136261
	hashPrime = 16777619
)

func mix(hash uint32, r rune) uint32 { return (hash ^ uint32(r)) * hashPrime }

// number hashes the number that text begins with, without separators between digits ("1,000" is "1.000" is "1000") and
// leading zeros, and returns its bytes and runes. Digits of every script count by their value.
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

// digit is the value of a decimal digit: Unicode keeps each script's ten together, in order.
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

// unspaced are scripts whose words no space parts: a run of their letters is no word.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

func isWordLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r|0x20 && r|0x20 <= 'z'
	}
	return unicode.IsLetter(r) && (r < 0x0e00 || !unicode.In(r, unspaced...))
}

// addWord adds the word that text begins with to f's names and stems, and returns its hash, bytes and runes. A word is a letter and the letters,
// digits and apostrophes after it; hashes are of its letters without case and accents.
func addWord(f *mine.Facts, text string) (whole uint32, length, runes int) {
	whole = hashStart
	first := uint32(hashStart)
	capital := false
	for length < len(text) {
		r, width := utf8.DecodeRuneInString(text[length:])
		if r != '\'' && r != '’' && !isWordLetter(r) && (runes == 0 || !isDigit(r)) {
			if r < utf8.RuneSelf || !unicode.Is(unicode.M, r) {
				break
			}
			length += width // a combining mark: an accent, which is dropped
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
	if capital && runes >= leastName {
		f.Names = append(f.Names, whole)
	}
	if runes >= leastStem {
		f.Stems = append(f.Stems, first)
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
