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

// linkTable holds the common weight of the sentence pairs of a piece near the places of a band. Distant pairs count as
// 0.
type linkTable struct {
	first []int       // first target sentence by source sentence
	rows  [][]float32 // common weight by source sentence
	mass  [2][]float32
}

func newLinkTable(l *links, source, target Span, b *band) *linkTable {
	t := &linkTable{first: make([]int, source.Count), rows: make([][]float32, source.Count)}
	t.mass = [2][]float32{l.mass[0][source.First:source.End()], l.mass[1][target.First:target.End()]}
	for i := range t.rows {
		from, to := max(b.first[i]-1, 0), min(b.last(i+1)+1, target.Count)
		t.first[i], t.rows[i] = from, make([]float32, to-from)
		for j := from; j < to; j++ {
			t.rows[i][j-from] = l.shared(source.First+i, target.First+j)
		}
	}
	return t
}

// sum returns the common weight of source sentences [i, iEnd) and target sentences [j, jEnd).
func (t *linkTable) sum(i, iEnd, j, jEnd int) (sum float32) {
	for i := max(i, 0); i < min(iEnd, len(t.rows)); i++ {
		row, first := t.rows[i], t.first[i]
		for k := max(j-first, 0); k < min(jEnd-first, len(row)); k++ {
			sum += row[k]
		}
	}
	return sum
}

// linkReach is the number of sentences beside a span whose links with the other span count against a bead.
const linkReach = 2

// smallLink is the common weight in a usual case: a number or a few letters.
const smallLink = 10

// leak returns the weight that the spans of a bead have in common with the sentences next to the other span, divided by
// the maximum possible. The bead has x source sentences before i and y target sentences before j.
func (t *linkTable) leak(i, x, j, y int) float32 {
	sum := t.sum(i-x, i, j-y-linkReach, j-y) + t.sum(i-x, i, j, j+linkReach) + t.sum(i-x-linkReach, i-x, j-y, j) +
		t.sum(i, i+linkReach, j-y, j)
	if sum == 0 {
		return 0
	}
	mass := [2]float32{smallLink, smallLink}
	for _, m := range t.mass[0][i-x : i] {
		mass[0] += m
	}
	for _, m := range t.mass[1][j-y : j] {
		mass[1] += m
	}
	return sum / float32(math.Sqrt(float64(mass[0]*mass[1])))
}

// crossing returns the common weight across either end of a bead, at most 1 for each end.
func (t *linkTable) crossing(i, x, j, y int) float32 {
	end := t.sum(i-1, i, j, j+1) + t.sum(i, i+1, j-1, j)
	begin := t.sum(i-x, i-x+1, j-y-1, j-y) + t.sum(i-x-1, i-x, j-y, j-y+1)
	return end/(end+smallLink) + begin/(begin+smallLink)
}
