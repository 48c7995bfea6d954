// Package surface reads off the surface of a sentence: its numbers, names, word beginnings, punctuation and negation,
// in a form that is equal in many languages. Numbers are normalised (separators, leading zeros, digits of every
// script), words folded (case and accents apart). The scorer's features and the filter's annotations are made of it.
package surface

/*
#cgo CFLAGS: -O3 -std=c11
#include "unlike.h"
*/
import "C"

import (
	"slices"
	"unsafe"
)

const (
	minName = 3 // letters of a capitalised word that counts as a name
	minStem = 4 // letters of a word that can be a cognate
	stem    = 5 // letters of a cognate that are compared, because endings differ between languages
)

// Features are the properties of a sentence's text that features compare. A Length of 0 means that the sentence was not
// described. The hashes are FNV-1a of the folded text.
type Features struct {
	Length   int32    // characters
	Numbers  []Number // numbers in order; one that occurs twice is there twice
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
	Text       string // part of what Plain makes of the sentence's text
	Hash, Stem uint32 // hashes of the whole word and of its first five letters
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
	r := reader{text: Plain(text), negations: negationHashes[language], negating: negatingRunes[language], spelled: spelledNumbers[language], elides: eliding[language]}
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

// Costs of an alignment of a name with another text's sounds, in hundredths of a consonant that is missing.
const (
	consonantCost = 80
	vowelCost     = 20 // a vowel that one of the two does not write
	aspirateCost  = 25 // an h
	otherCost     = 100
	endingCost    = 8  // each sound of the word behind the name: case endings
	maxEndingCost = 40 // all those sounds together
	crossingCost  = 10 // a name that the other text writes as two words
	insideCost    = 30 // a name that begins inside a word, as after an article
	syllableCost  = 5  // the same at a syllable of a script without spaces
	infiniteCost  = 1 << 13
)

// substitutions are the costs of classes that stand for each other; any other pair of consonants costs otherCost.
var substitutions = map[string]C.int16_t{
	"IE": 8, "OU": 8, "EA": 12, "AO": 12, "IA": 20, "IO": 20, "IU": 15, "EO": 15, "EU": 20, "AU": 18,
	"WF": 12, "WU": 8, "WO": 12, "WP": 35, "CS": 10, "CK": 12, "CH": 30, "CT": 40, "CJ": 20, "JS": 20, "JI": 10, "JE": 20, "JH": 30, "JK": 30, "JT": 40,
	"PF": 30, "LR": 20, "HK": 25, "NM": 35, "ST": 40, "SK": 70, "LU": 40, "LW": 40, "LI": 45, "FU": 40, "FH": 40, "KI": 60, "TL": 80, "FW": 12,
}

// costs are those of alignments.
var costs = func() (costs C.struct_unlike_costs) {
	for s := range soundCount {
		costs.insert[s], costs.start[s] = insertCost(s), insideCost
		for other := range soundCount {
			switch {
			case s <= syllableStart || other <= syllableStart:
				costs.substitute[s][other] = infiniteCost
			case s != other:
				costs.substitute[s][other] = otherCost
			}
		}
	}
	costs.start[wordStart], costs.start[syllableStart] = 0, syllableCost
	for pair, cost := range substitutions {
		a, b := parseSounds(pair[:1])[0], parseSounds(pair[1:])[0]
		costs.substitute[a][b], costs.substitute[b][a] = cost, cost
	}
	costs.ending, costs.endings, costs.infinite = endingCost, maxEndingCost, infiniteCost
	return costs
}()

// insertCost is the cost of a class that only one of the two has.
func insertCost(s Sound) C.int16_t {
	switch {
	case s == wordStart:
		return crossingCost
	case s == syllableStart:
		return 0
	case s.isVowel():
		return vowelCost
	case s == soundH:
		return aspirateCost
	case s == soundJ || s == soundW || s == soundN || s == soundR || s == soundL:
		return 55
	}
	return consonantCost
}

// MaxUnlike is how unlike by sound a name and its counterpart are at most.
const MaxUnlike = 0.3

// HasForm reports whether the text has a name as it is written, or a word of the same beginning, by their hashes.
func (f *Features) HasForm(word, stem uint32) bool {
	_, written := slices.BinarySearch(f.Capitals, word)
	if !written {
		_, written = slices.BinarySearch(f.Stems, stem)
	}
	return written
}

// Finder looks names up in the sounds of other sentences. It holds buffers, so it is not safe for concurrent use.
type Finder struct {
	names       [C.UNLIKE_NAMES][C.UNLIKE_LONGEST]Sound
	lengths     [C.UNLIKE_NAMES]C.int32_t
	best, whole [C.UNLIKE_NAMES]C.int16_t
}

// Unlike appends how unlike each name, the sounds of one word, is to what is most like it in a text: 0 for equal
// sounds, 1 for nothing alike. It is the cost of the best alignment with a part of the text that begins like a word,
// relative to that of a text without the name. Of long names the beginning is looked up.
func (f *Finder) Unlike(unlike []float32, names [][]Sound, text []Sound) []float32 {
	for some := range slices.Chunk(names, len(f.names)) {
		for i, name := range some {
			for len(name) > 0 && name[0] <= syllableStart {
				name = name[1:]
			}
			f.lengths[i] = C.int32_t(copy(f.names[i][:], name))
		}
		C.unlike_find(&costs, (*C.uint8_t)(unsafe.SliceData(text)), C.int64_t(len(text)), (*C.uint8_t)(&f.names[0][0]),
			&f.lengths[0], C.int64_t(len(some)), &f.best[0], &f.whole[0])
		for i := range some {
			if f.whole[i] == 0 { // no sound of its script is known
				unlike = append(unlike, 1)
			} else {
				unlike = append(unlike, float32(f.best[i])/float32(f.whole[i]))
			}
		}
	}
	return unlike
}
