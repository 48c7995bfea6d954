package encoder

import (
	"math"
	"strings"
	"unicode"

	"bitextmine/internal/badinput"
)

// NGrams are the settings of the character n-grams that a piece's vector is made of.
type NGrams struct {
	Min       int     `yaml:"min"` // shortest n-gram of alphabetic pieces, in characters
	Max       int     `yaml:"max"` // longest n-gram; 0 means no n-grams
	Deviation float64 `yaml:"deviation"`
}

func (n NGrams) validate() error {
	if n.Max == 0 {
		return nil
	}
	if n.Min < 1 || n.Max < n.Min || n.Deviation < 0 {
		return badinput.Errorf("encoder: ngrams from %d to %d characters with deviation %g: give 1 <= min <= max and no negative deviation", n.Min, n.Max, n.Deviation)
	}
	return nil
}

// wordStart is SentencePiece's character for the space before a piece.
const wordStart = '▁'

// of lists the n-grams that at least two pieces have. One that only one piece has adds nothing to that piece's own
// vector.
func (n NGrams) of(pieces []string) parts {
	lists := make([][]string, len(pieces))
	owners := map[string]int{}
	for i, piece := range pieces {
		lists[i] = n.split(piece)
		once := map[string]bool{}
		for _, g := range lists[i] {
			if !once[g] {
				once[g] = true
				owners[g]++
			}
		}
	}
	numbers := map[string]int32{}
	var p parts
	for _, list := range lists {
		for _, g := range list {
			if owners[g] < 2 {
				continue
			}
			if _, ok := numbers[g]; !ok {
				numbers[g] = int32(len(numbers))
			}
			p.members = append(p.members, numbers[g])
		}
		p.ends = append(p.ends, len(p.members))
	}
	p.distinct = len(numbers)
	return p
}

// split lists a piece's n-grams: for letters those of Min to Max characters, where the word start counts as a
// letter; for Han, kana and hangul, whose characters carry more meaning, single characters and pairs. Pieces with one
// n-gram, and those that are not letters, have none.
func (n NGrams) split(piece string) []string {
	word, starts := strings.CutPrefix(piece, string(wordStart))
	runes := []rune(word)
	shortest, longest := n.Min, n.Max
	for _, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return nil
		}
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			shortest, longest, starts = 1, 2, false
		}
	}
	if len(runes) <= shortest {
		return nil
	}
	if starts {
		runes = append([]rune{wordStart}, runes...)
	}
	var all []string
	for size := shortest; size <= longest; size++ {
		for i := 0; i+size <= len(runes); i++ {
			all = append(all, string(runes[i:i+size]))
		}
	}
	return all
}

// parts are the n-grams of each piece by number.
type parts struct {
	groups
	distinct int
}

// weight is the weight of each n-gram of a piece. With it their sum has the length of one n-gram, because new vectors
// are almost orthogonal.
func (p parts) weight(piece int) float32 {
	return float32(1 / math.Sqrt(float64(len(p.of(piece)))))
}
