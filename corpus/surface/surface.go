// Package surface reads off the surface of a sentence: its numbers, names, word beginnings, punctuation and negation,
// in a form that is equal in many languages. Numbers are normalised (separators, leading zeros, digits of every
// script), words folded (case and accents apart). The scorer's features and the filter's annotations are made of it.
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
	Text       string // part of the sentence's text
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
	maxNameSounds = 24 // longer names are cut
	infiniteCost  = 1 << 20
)

// insertCosts are the costs of a class that only one of the two has.
var insertCosts = func() (costs [soundRoom]int32) {
	for s := range soundCount {
		switch {
		case s == wordStart:
			costs[s] = crossingCost
		case s == syllableStart:
			costs[s] = 0
		case s.isVowel():
			costs[s] = vowelCost
		case s == soundH:
			costs[s] = aspirateCost
		case s == soundJ || s == soundW || s == soundN || s == soundR || s == soundL:
			costs[s] = 55
		default:
			costs[s] = consonantCost
		}
	}
	return costs
}()

// substitutions are the costs of classes that stand for each other; any other pair of consonants costs otherCost.
var substitutions = map[string]int32{
	"IE": 8, "OU": 8, "EA": 12, "AO": 12, "IA": 20, "IO": 20, "IU": 15, "EO": 15, "EU": 20, "AU": 18,
	"WF": 12, "WU": 8, "WO": 12, "WP": 35, "CS": 10, "CK": 12, "CH": 30, "CT": 40, "CJ": 20, "JS": 20, "JI": 10, "JE": 20, "JH": 30, "JK": 30, "JT": 40,
	"PF": 30, "LR": 20, "HK": 25, "NM": 35, "ST": 40, "SK": 70, "LU": 40, "LW": 40, "LI": 45, "FU": 40, "FH": 40, "KI": 60, "TL": 80, "FW": 12,
}

// substituteCosts are the costs of a class in place of another.
var substituteCosts = func() (costs [soundRoom][soundRoom]int32) {
	for a := range soundCount {
		for b := range soundCount {
			if a != b {
				costs[a][b] = otherCost
			}
			if a <= syllableStart || b <= syllableStart {
				costs[a][b] = infiniteCost
			}
		}
	}
	for pair, cost := range substitutions {
		a, b := parseSounds(pair[:1])[0], parseSounds(pair[1:])[0]
		costs[a][b], costs[b][a] = cost, cost
	}
	return costs
}()

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
type Finder struct{ rows [2][maxNameSounds + 1]int32 }

// Unlike says how unlike a name, the sounds of one word, is to what is most like it in a text: 0 for equal sounds, 1
// for nothing alike. It is the cost of the best alignment with a part of the text that begins like a word, relative to
// that of a text without the name.
func (f *Finder) Unlike(name, text []Sound) float32 {
	for len(name) > 0 && name[0] <= syllableStart {
		name = name[1:]
	}
	name = name[:min(len(name), maxNameSounds)]
	last, now := &f.rows[0], &f.rows[1]
	whole := int32(0)
	last[0] = 0
	for i, s := range name {
		whole += insertCosts[s]
		last[i+1] = whole
	}
	if whole == 0 {
		return 1 // no sound of its script is known
	}
	best := whole
	// The best end in the present word, without and with the word's rest.
	word, ending := int32(infiniteCost), int32(infiniteCost)
	for _, s := range text {
		now[0] = startCost(s)
		if s == wordStart {
			best = min(best, ending)
			word, ending = infiniteCost, infiniteCost
		}
		align(now[:], last[:], name, s)
		if s > syllableStart {
			end := now[len(name)]
			word = min(word, end)
			ending = min(ending+endingCost, word+maxEndingCost, end)
		}
		last, now = now, last
	}
	return float32(min(best, ending)) / float32(whole)
}

// startCost is the cost of a name that begins after a sound.
func startCost(s Sound) int32 {
	switch s {
	case wordStart:
		return 0
	case syllableStart:
		return syllableCost
	}
	return insideCost
}

// align computes the costs of a name's first sounds with the text up to s, from those with the text before it.
func align(now, last []int32, name []Sound, s Sound) {
	insert, substitute := insertCosts[s], &substituteCosts[s]
	without, with := last[0], now[0] // the cost of one sound less, before s and with it
	now, last = now[1:][:len(name)], last[1:][:len(name)]
	for i, n := range name {
		n %= soundRoom
		before := last[i]
		with = min(min(without+substitute[n], before+insert), with+insertCosts[n])
		now[i], without = with, before
	}
}
