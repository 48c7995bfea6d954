package bead

import (
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// links holds the text that two documents' sentences have in common: numbers, and letters of names and cognates. A rare
// item weighs more. A sentence's grams are its numbers and each four consecutive letters of its words; a mark begins
// and ends each word.
type links struct {
	grams  [2][][]int32 // grams per sentence that both documents have, ascending
	mass   [2][]float32 // total weight of all grams per sentence, including grams that only one document has
	weight []float32    // weight per shared gram
}

const (
	gramLength = 4
	// commonGram is taken off a gram's weight: what e^-1.5 of the sentences have weighs nothing.
	commonGram = 1.5
)

func newLinks(source, target []string) *links {
	l := &links{}
	var hashes [2][][]uint64
	var counts [2]map[uint64]int
	for side, sentences := range [2][]string{source, target} {
		counts[side] = map[uint64]int{}
		for _, text := range sentences {
			of := grams(text)
			hashes[side] = append(hashes[side], of)
			for _, g := range of {
				counts[side][g]++
			}
		}
	}
	rarity := func(side int, g uint64) float64 {
		return -math.Log(float64(counts[side][g]) / float64(len(hashes[side])))
	}
	ids := map[uint64]int32{}
	for side := range hashes {
		l.grams[side], l.mass[side] = make([][]int32, len(hashes[side])), make([]float32, len(hashes[side]))
		for i, of := range hashes[side] {
			for _, g := range of {
				l.mass[side][i] += float32(max(rarity(side, g)-commonGram, 0))
				if counts[1-side][g] == 0 {
					continue
				}
				weight := (rarity(0, g)+rarity(1, g))/2 - commonGram
				if weight <= 0 {
					continue
				}
				id, ok := ids[g]
				if !ok {
					id = int32(len(l.weight))
					ids[g] = id
					l.weight = append(l.weight, float32(weight))
				}
				l.grams[side][i] = append(l.grams[side][i], id)
			}
			slices.Sort(l.grams[side][i])
		}
	}
	return l
}

// shared is the weight of the grams that two sentences share.
func (l *links) shared(i, j int) (sum float32) {
	a, b := l.grams[0][i], l.grams[1][j]
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			a = a[1:]
		case a[0] > b[0]:
			b = b[1:]
		default:
			sum += l.weight[a[0]]
			a, b = a[1:], b[1:]
		}
	}
	return sum
}

// grams are the hashes of a text's grams, each once, in ascending order.
func grams(text string) []uint64 {
	var out []uint64
	add := func(gram string, times int) {
		h := fnv.New64a()
		for range times {
			_, _ = h.Write([]byte(gram)) // it never fails
			out = append(out, h.Sum64())
		}
	}
	for _, word := range words(text) {
		switch first := word[0]; {
		case unicode.IsDigit(first):
			add(string(word), min(len(word), 3)) // a long number weighs as much as a word
		case len(word) >= gramLength-1:
			marked := slices.Concat([]rune{'^'}, word, []rune{'$'})
			for i := 0; i+gramLength <= len(marked); i++ {
				add(string(marked[i:i+gramLength]), 1)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// words are a text's numbers and its words of scripts with letters, in lower case and without accents.
func words(text string) (out [][]rune) {
	var word []rune
	last := noWord
	end := func() {
		if len(word) > 0 {
			out = append(out, slices.Clone(word))
		}
		word = word[:0]
	}
	for _, r := range norm.NFD.String(strings.ToLower(text)) {
		k := kindOf(r)
		if k == accent {
			continue
		}
		if k != last {
			end()
			last = k
		}
		if k != noWord {
			word = append(word, r)
		}
	}
	end()
	return out
}

type kind uint8

const (
	noWord kind = iota
	digit
	letter
	accent
)

// firstIdeograph is the first of the characters of East Asia, which stand for syllables or words.
const firstIdeograph = 0x3000

func kindOf(r rune) kind {
	switch {
	case unicode.IsDigit(r):
		return digit
	case r >= 0x300 && r <= 0x36f:
		return accent
	case r < firstIdeograph && (unicode.IsLetter(r) || unicode.IsMark(r)):
		return letter
	}
	return noWord
}
