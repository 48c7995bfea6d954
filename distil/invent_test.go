package distil

import (
	"slices"
	"testing"

	"bitextmine/corpus"
)

// TestInventedSentencesHaveTheFirstFrame: models are cut by the frame of their own language, which may be shorter or
// longer than the first's.
func TestInventedSentencesHaveTheFirstFrame(t *testing.T) {
	long, short := Frame{Before: []int32{1, 3, 3, 3, 3, 3, 3, 3, 3, 3}, After: []int32{2}}, Frame{Before: []int32{1}, After: []int32{2}}
	const rows, common, models = 40, 20, 5
	for name, frames := range map[string][]Frame{"the first is longer": {long, short}, "the first is shorter": {short, long}} {
		s := &Sentences{seen: map[corpus.Key]int{}, Names: []string{"de", "en"}}
		wanted := make([]bool, rows)
		for id := 4; id < rows; id++ {
			wanted[id] = true
		}
		for i := range 2 * models {
			var own []int32
			for k := range minModel {
				own = append(own, int32(4+(i+k*k)%common))
			}
			s.add(frames[i%2].Around(own), int32(i%2))
		}
		text := s.Len()
		if added := s.Invent(nil, wanted, frames, 2, 1); added == 0 || s.Len() != text+added {
			t.Fatalf("%s: %d sentences were added to %d, and there are %d", name, added, text, s.Len())
		}
		for i := text; i < s.Len(); i++ {
			own := s.own(i, frames)
			if !slices.Equal(s.At(i), frames[0].Around(own)) || len(own) != minModel ||
				slices.ContainsFunc(own, func(id int32) bool { return id < 4 }) {
				t.Errorf("%s: invented sentence %v, want %d pieces in the frame %v", name, s.At(i), minModel, frames[0])
			}
		}
	}
}
