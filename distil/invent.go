package distil

import (
	"math/rand/v2"
	"slices"
	"unicode"
)

// Invented sentences show the teacher pieces that are rare in the text. Without them, the least squares would know such
// a piece only by the linear map of the teacher's vector of it alone. A share of the pieces of a real sentence of the
// same script is replaced by rare pieces; a script without text gets sentences of its rare pieces alone.
const (
	inventShare = 0.4 // share of a real sentence's pieces that is replaced
	minModel    = 8   // pieces of a real sentence that serves as a model
	maxModel    = 40
	inventAlone = 12 // pieces of a sentence of rare pieces alone
)

// scripts are distinguished by a piece's first letter. A piece without a letter goes with any script.
var scripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Cyrillic, unicode.Arabic, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Thai,
	unicode.Greek, unicode.Hebrew, unicode.Devanagari,
}

// script is the number of a piece's script: 0 if it has none of scripts.
func script(piece string) int {
	for _, r := range piece {
		for i, table := range scripts {
			if unicode.Is(table, r) {
				return i + 1
			}
		}
	}
	return 0
}

// Invent adds sentences until every wanted piece occurs at least the given number of times, and returns how many it
// added. pieces are the spellings of the teacher's ids, nil if they are not known; frames are those of the languages of
// s.Names, of which the first surrounds invented sentences.
func (s *Sentences) Invent(pieces []string, wanted []bool, frames []Frame, times int, seed uint64) int {
	random := rand.New(rand.NewPCG(seed, 0))
	scriptOf := make([]int, len(wanted))
	for id, piece := range pieces {
		scriptOf[id] = script(piece)
	}
	rare := s.rare(wanted, scriptOf, times)
	models := s.models(scriptOf, frames)
	added := 0
	for script, ids := range rare {
		random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		from := models[script]
		random.Shuffle(len(from), func(i, j int) { from[i], from[j] = from[j], from[i] })
		for n := 0; len(ids) > 0; n++ {
			var own []int32
			if len(from) == 0 {
				own = ids[:min(inventAlone, len(ids))]
				ids = ids[len(own):]
			} else {
				own = slices.Clone(s.own(from[n%len(from)], frames))
				ids = ids[replace(own, ids, random):]
			}
			if _, isNew := s.add(frames[0].Around(own), NoLanguage); isNew {
				added++
			}
		}
	}
	return added
}

// NoLanguage is the language of invented sentences.
const NoLanguage = -1

// replace puts ids at random places and returns how many.
func replace(own, ids []int32, random *rand.Rand) int {
	n := min(len(ids), max(1, int(inventShare*float64(len(own)))))
	for i, place := range random.Perm(len(own))[:n] {
		own[place] = ids[i]
	}
	return n
}

// rare lists by script the wanted pieces that occur too seldom, each as often as it is missing.
func (s *Sentences) rare(wanted []bool, scriptOf []int, times int) [][]int32 {
	counts := make([]int, len(wanted))
	for _, id := range s.IDs {
		counts[id]++
	}
	rare := make([][]int32, len(scripts)+1)
	for id, count := range counts {
		for ; wanted[id] && count < times; count++ {
			rare[scriptOf[id]] = append(rare[scriptOf[id]], int32(id))
		}
	}
	return rare
}

// models lists the sentences of a moderate length by the script of most of their pieces. Each is also a model for
// pieces without a script.
func (s *Sentences) models(scriptOf []int, frames []Frame) [][]int {
	models := make([][]int, len(scripts)+1)
	for i := range s.Ends {
		own := s.own(i, frames)
		if len(own) < minModel || len(own) > maxModel {
			continue
		}
		counts := make([]int, len(scripts)+1)
		most := 0
		for _, id := range own {
			if of := scriptOf[id]; of > 0 {
				if counts[of]++; counts[of] > counts[most] {
					most = of
				}
			}
		}
		models[most] = append(models[most], i)
		if most > 0 {
			models[0] = append(models[0], i)
		}
	}
	return models
}

// Frame is the ids before and after a sentence's own.
type Frame struct{ Before, After []int32 }

// own is sentence i without its frame. frames are those of the languages of s.Names; invented sentences have the first.
func (s *Sentences) own(i int, frames []Frame) []int32 {
	frame, whole := frames[max(s.Languages[i], 0)], s.At(i)
	begin := min(len(frame.Before), len(whole))
	return whole[begin:max(len(whole)-len(frame.After), begin)]
}

// Around puts the frame around ids.
func (f Frame) Around(ids []int32) []int32 {
	var all []int32
	all = append(all, f.Before...)
	all = append(all, ids...)
	return append(all, f.After...)
}
