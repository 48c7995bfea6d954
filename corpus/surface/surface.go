package surface

import "slices"

const (
	minName = 3 // letters of a capitalised word that counts as a name
	minStem = 4 // letters of a word that can be a cognate
	stem    = 5 // letters of a cognate that are compared, because endings differ between languages
)

// Features are the properties of a sentence's text that features compare. A Length of 0 means that the sentence was not
// described. The hashes are FNV-1a of the folded text.
type Features struct {
	Length   int32    // characters
	Numbers  []Number // in order; a number that occurs twice is there twice
	Numerals int32    // numbers written in Han characters, and Roman ones, whose value is not read
	Capitals []uint32 // hashes of distinct capitalised words, ascending
	Names    []Name   // capitalised words that are not the first of a sentence or of a quotation, in order
	Lower    []uint32 // hashes of the words that do not begin with a capital, in order
	Stems    []uint32 // hashes of the distinct first five letters of longer words, ascending
	Marks    [8]uint8 // counts by kind of punctuation
	Negation
}

// Name is a capitalised word inside a sentence. In German that is any noun.
type Name struct {
	Text       string // part of the sentence's text
	Hash, Stem uint32 // of the whole word, of its first five letters
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
	r := reader{text: text, negations: negationHashes[language], negating: negatingRunes[language], spelled: spelledNumbers[language], elides: eliding[language]}
	r.read()
	return r.Features
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
