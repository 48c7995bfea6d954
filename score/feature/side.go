package feature

import (
	"fmt"

	"bitextmine/corpus/surface"
)

// Side is the input of the features for one side of a mining problem, by sentence number. Sentences that are in no
// candidate may be left out.
type Side struct {
	Surface []surface.Features
	Tokens  *Tokens // nil if the encoder gives none; then the token features are 0
}

func (s *Side) check(sentences int) error {
	if len(s.Surface) != sentences {
		return fmt.Errorf("surface features of %d sentences, of %d", len(s.Surface), sentences)
	}
	if s.Tokens == nil {
		return nil
	}
	return s.Tokens.check(sentences)
}

// meanLength is the mean length in characters of the described sentences.
func (s *Side) meanLength() float64 {
	sum, n := int64(0), 0
	for i := range s.Surface {
		if length := s.Surface[i].Length; length > 0 {
			sum += int64(length)
			n++
		}
	}
	return float64(sum) / float64(max(1, n))
}
