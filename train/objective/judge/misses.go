package judge

import (
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"bitextmine/train/data"
)

// spelling describes the pieces of a SentencePiece vocabulary.
type spelling struct {
	begins  []bool             // the piece begins a word
	capital []bool             // ... with a capital letter
	number  []string           // the piece's class, if it is all digits: pieces of a class can stand for each other
	numbers map[string][]int32 // numbers of each class
}

// space begins the pieces that begin words.
const space = "\u2581"

func newSpelling(pieces []string) *spelling {
	n := len(pieces)
	s := &spelling{begins: make([]bool, n), capital: make([]bool, n), number: make([]string, n), numbers: map[string][]int32{}}
	for id, piece := range pieces {
		text, begins := strings.CutPrefix(piece, space)
		first, _ := utf8.DecodeRuneInString(text)
		s.begins[id], s.capital[id] = begins, begins && unicode.IsUpper(first)
		if text == "" || strings.ContainsFunc(text, func(r rune) bool { return r < '0' || r > '9' }) {
			continue
		}
		class := strings.Repeat("0", len(text))
		if begins {
			class = space + class
		}
		s.number[id] = class
		s.numbers[class] = append(s.numbers[class], int32(id))
	}
	return s
}

// pairs are the sequences of a batch: for each pair itself and then wrong ones. The same batch gives the same ones.
func (j *judge) pairs(b *data.Batch) [][]int32 {
	rng := rand.New(rand.NewPCG(j.Seed, uint64(b.Step)))
	sides := [2][][]int32{own(&b.Views[data.SourceView]), own(&b.Views[data.TargetView])}
	var near [][]int32
	if j.Neighbours > 0 {
		near = own(&b.Views[data.NegativesView])
	}
	var all [][]int32
	for i := range b.Rows {
		pair := [2][]int32{sides[0][i], sides[1][i]}
		all = append(all, j.sequence(pair[0], pair[1]))
		for k := range j.Misses {
			if k < j.Neighbours {
				all = append(all, j.sequence(pair[0], near[i*j.Neighbours+k]))
				continue
			}
			wrong, side := pair, rng.IntN(2)
			from := i + 1 + rng.IntN(max(1, len(b.Rows)-1))
			other := another(sides[side], i, from)
			if slices.Equal(other, pair[side]) {
				side = 1 - side
				other = another(sides[side], i, from)
			}
			wrong[side] = j.miss(rng, pair[side], other)
			all = append(all, j.sequence(wrong[0], wrong[1]))
		}
	}
	return all
}

// another is the first sentence from a row on that is not that of row i: a batch may have a sentence twice. If all are
// equal, it is that sentence.
func another(sentences [][]int32, i, from int) []int32 {
	for k := range sentences {
		if other := sentences[(from+k)%len(sentences)]; !slices.Equal(other, sentences[i]) {
			return other
		}
	}
	return sentences[i]
}

// own are the ids of a side's sentences without the special tokens around them.
func own(s *data.Side) [][]int32 {
	all := make([][]int32, s.N)
	for i := range all {
		ids := s.Sentence(i)
		all[i] = ids[1:max(1, len(ids)-1)]
	}
	return all
}

// miss is a sentence that says nearly what another does: with another number or name, less a clause, or with one more;
// or it is the other sentence. A kind that the sentence gives nothing for is followed by the next.
func (j *judge) miss(rng *rand.Rand, ids, other []int32) []int32 {
	kinds := []func(*rand.Rand, []int32, []int32) []int32{j.wrongNumber, j.wrongName, j.leftOut, j.added}
	begin := rng.IntN(len(kinds) + 1)
	if slices.Equal(other, ids) {
		begin = 0 // the other is no miss
	}
	for k := range kinds {
		if begin+k >= len(kinds) {
			break
		}
		if wrong := kinds[begin+k](rng, ids, other); wrong != nil {
			return wrong
		}
	}
	return other
}

// wrongNumber has other digits in place of one number's.
func (j *judge) wrongNumber(rng *rand.Rand, ids, _ []int32) []int32 {
	var places []int
	for i, id := range ids {
		if len(j.numbers[j.number[id]]) > 1 {
			places = append(places, i)
		}
	}
	if places == nil {
		return nil
	}
	at := places[rng.IntN(len(places))]
	class := j.numbers[j.number[ids[at]]]
	wrong := slices.Clone(ids)
	for wrong[at] == ids[at] {
		wrong[at] = class[rng.IntN(len(class))]
	}
	return wrong
}

// names are the spans of words with a capital letter that do not begin the sentence.
func (j *judge) names(ids []int32) (spans [][2]int) {
	for i := 1; i < len(ids); i++ {
		if !j.capital[ids[i]] {
			continue
		}
		end := i + 1
		for end < len(ids) && !j.begins[ids[end]] {
			end++
		}
		spans = append(spans, [2]int{i, end})
		i = end - 1
	}
	return spans
}

// wrongName has a name of the other sentence in place of one.
func (j *judge) wrongName(rng *rand.Rand, ids, other []int32) []int32 {
	names, others := j.names(ids), j.names(other)
	if names == nil || others == nil {
		return nil
	}
	at, with := names[rng.IntN(len(names))], others[rng.IntN(len(others))]
	if slices.Equal(ids[at[0]:at[1]], other[with[0]:with[1]]) {
		return nil
	}
	return slices.Concat(ids[:at[0]], other[with[0]:with[1]], ids[at[1]:])
}

// shortest is the number of tokens from which a sentence has a clause to leave out.
const shortest = 8

// leftOut lacks a quarter to a half of the sentence.
func (*judge) leftOut(rng *rand.Rand, ids, _ []int32) []int32 {
	if len(ids) < shortest {
		return nil
	}
	n := len(ids)/4 + rng.IntN(len(ids)/4)
	at := rng.IntN(len(ids) - n + 1)
	return slices.Concat(ids[:at], ids[at+n:])
}

// added has a part of the other sentence at its beginning or its end.
func (*judge) added(rng *rand.Rand, ids, other []int32) []int32 {
	if len(other) < shortest {
		return nil
	}
	n := len(other)/4 + rng.IntN(len(other)/4)
	at := rng.IntN(len(other) - n + 1)
	if rng.IntN(2) == 0 {
		return slices.Concat(other[at:at+n], ids)
	}
	return slices.Concat(ids, other[at:at+n])
}
