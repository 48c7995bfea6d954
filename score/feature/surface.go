package feature

import (
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	minName = 3 // letters of a capitalised word that counts as a name
	minStem = 4 // letters of a word that can be a cognate
	stem    = 5 // letters of a cognate that are compared, because endings differ between languages
)

// Surface is the properties of a sentence's text that features compare. A Length of 0 means that the sentence was not
// described. The hashes are FNV-1a of the folded text.
type Surface struct {
	Length  int32    // characters
	Numbers []uint32 // hashes, ascending; a number that occurs twice is there twice
	Names   []uint32 // hashes of distinct capitalised words, ascending
	Stems   []uint32 // hashes of the distinct first five letters of longer words, ascending
	Marks   [8]uint8 // counts by kind of punctuation
	Negation
}

// markOf returns the kind of a punctuation mark, one of the eight that are counted.
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

// SurfaceOf computes the surface features of a normalised text.
func SurfaceOf(language, text string) Surface {
	var s Surface
	words, runes := negationHashes[language], negatingRunes[language]
	if words != nil || runes != "" {
		s.Negation = Affirmed
	}
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		switch {
		case isDigit(r):
			hash, length, long := number(text[i:])
			s.Numbers = append(s.Numbers, hash)
			s.Length += int32(long)
			i += length
			continue
		case isWordLetter(r):
			hash, length, long := addWord(&s, text[i:])
			if words[hash] {
				s.Negation = Negated
			}
			s.Length += int32(long)
			i += length
			continue
		default:
			if kind, ok := markOf(r); ok && s.Marks[kind] < 255 {
				s.Marks[kind]++
			}
			if runes != "" && strings.ContainsRune(runes, r) {
				s.Negation = Negated
			}
		}
		s.Length++
		i += width
	}
	slices.Sort(s.Numbers)
	s.Names, s.Stems = distinct(s.Names), distinct(s.Stems)
	return s
}

func distinct(hashes []uint32) []uint32 {
	slices.Sort(hashes)
	return slices.Compact(hashes)
}
