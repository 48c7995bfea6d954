package feature

import "fmt"

// Side is one side of a mining problem as the features need it, by sentence number. Sentences that no candidate has may
// be left out.
type Side struct {
	Surface []Surface
	Tokens  *Tokens // nil: the encoder gives none, and the features of tokens are 0
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

// meanLength is the mean length in characters of the sentences described.
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
