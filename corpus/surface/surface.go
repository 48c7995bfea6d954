package surface

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

// Features are the properties of a sentence's text that features compare. A Length of 0 means that the sentence was not
// described. The hashes are FNV-1a of the folded text.
type Features struct {
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

// Of computes the surface features of a normalised text.
func Of(language, text string) Features {
	var s Features
	words, runes := negationHashes[language], negatingRunes[language]
	if words != nil || runes != "" {
		s.Negation = Affirmed
	}
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRuneInString(text[i:])
		switch {
		case IsDigit(r):
			hash, length, long := Number(text[i:])
			s.Numbers = append(s.Numbers, hash)
			s.Length += int32(long)
			i += length
			continue
		case IsWordLetter(r):
			w := WordAt(text[i:])
			s.add(w)
			if words[w.Hash] {
				s.Negation = Negated
			}
			s.Length += int32(w.Runes)
			i += w.Bytes
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

// Common returns the number of elements that two ascending lists have in common.
func Common(a, b []uint32) int {
	n, i, j := 0, 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			n, i, j = n+1, i+1, j+1
		}
	}
	return n
}
