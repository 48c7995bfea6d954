package tokenizer

import (
	"math/rand/v2"
	"slices"
	"testing"

	"bitextmine/encode/tokenizer/pattern"
)

// TestLetterwise: letters that are looked up become what BERT's steps make of whole texts, with every setting; the same
// pieces come of splitting once as of splitting twice.
func TestLetterwise(t *testing.T) {
	yes, no := true, false
	rng := rand.New(rand.NewPCG(1, 1))
	letters := []rune("aZ ßİΣσéé\u0301\u0327\u0300ﬁ가힣中あア\u00ad\u200b\t\n\u2028\ufffd.,;«–\u0e33ไ\u0345\u0f71\u0f72\U00020000\U0001d11e\U0001e94a\u302e")
	for _, settings := range []bertSteps{{true, true, nil, true}, {true, true, &yes, false}, {false, false, &no, true}, {true, false, &no, false}, {false, true, &yes, true}} {
		l := &letterwise{steps: settings.steps()}
		for range 3000 {
			var text []rune
			for range rng.IntN(12) {
				r := letters[rng.IntN(len(letters))]
				if rng.IntN(4) == 0 {
					r = rune(rng.IntN(0x30000))
				}
				text = append(text, r)
			}
			s := string(text)
			if rng.IntN(50) == 0 {
				s += "\xff"
			}
			want, wantMoved := l.inTurn(&memory{}, s)
			got, moved := l.normalise(&memory{}, s)
			if got != want || moved != wantMoved {
				t.Fatalf("%+v: %q becomes %q (%v), by steps %q (%v)", settings, s, got, moved, want, wantMoved)
			}
			once, twice := &memory{}, &memory{pieces: []piece{{got, -1, true}}}
			bertSplit(once, piece{got, -1, true})
			twice.splitPieces(cutter{letters: pattern.Spaces.Has}.step(removed))
			twice.splitPieces(cutter{letters: pattern.Punctuation.Has}.step(isolated))
			if !slices.Equal(once.pieces, twice.pieces) {
				t.Fatalf("%q is split into %v, by two steps %v", got, once.pieces, twice.pieces)
			}
		}
	}
}
