package feature

import (
	"fmt"

	"bitextmine/corpus/surface"
)

// NameList has the names of one side's sentences that are looked up by their token vectors.
type NameList struct {
	Of   [][]int32      // [sentences] places in All
	All  []surface.Name // distinct; their texts are not needed
	Rows [][]int32      // [len(All)] rows of the token vectors of a name's tokens
}

// of returns sentence i's names.
func (n *NameList) of(i int32) []int32 {
	if n == nil {
		return nil
	}
	return n.Of[i]
}

// Side is the input of the features for one side of a mining problem, by sentence number. Sentences that are in no
// candidate may be left out.
type Side struct {
	Surface Surfaces
	Tokens  *Tokens   // nil if the encoder gives none; then the token features are 0
	Names   *NameList // nil if a token's vector depends on its sentence; then names_conflict is 0
}

func (s *Side) check(sentences int) error {
	if s.Surface.Len() != sentences {
		return fmt.Errorf("surface features of %d sentences, of %d", s.Surface.Len(), sentences)
	}
	if s.Tokens == nil {
		return nil
	}
	if s.Names != nil && (len(s.Names.Of) != sentences || len(s.Names.Rows) != len(s.Names.All)) {
		return fmt.Errorf("names of %d sentences, of %d, and tokens of %d names, of %d", len(s.Names.Of), sentences, len(s.Names.Rows), len(s.Names.All))
	}
	return s.Tokens.check(sentences)
}

// meanLength is the mean length in characters of the described sentences.
func (s *Side) meanLength() float64 {
	sum, n := int64(0), 0
	for i := range s.Surface.all {
		if length := s.Surface.all[i].length; length > 0 {
			sum += int64(length)
			n++
		}
	}
	return float64(sum) / float64(max(1, n))
}
