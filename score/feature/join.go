package feature

import (
	"errors"
	"iter"
	"slices"
)

// Join returns a side of n sentences that parts describe, all with token vectors of dim values, 0: without. Sentence i
// is a row of a part, as at says. repeated yields the other rows of the parts: those of sentences that an earlier row
// has already. Closing the side closes the parts.
func Join(parts []*Side, n, dim int, at func(i int32) (part, row int), repeated iter.Seq2[int, int]) (*Side, error) {
	s := &Side{parts: parts, at: at, n: n, dim: dim}
	for _, part := range parts {
		if part.dim != dim {
			return nil, errors.New("describe sentences: only some have tokens")
		}
		s.lengths, s.described, s.tokenised = s.lengths+part.lengths, s.described+part.described, s.tokenised+part.tokenised
		if more := len(part.frequencies) - len(s.frequencies); more > 0 {
			s.frequencies = append(s.frequencies, make([]int32, more)...)
		}
		for id, df := range part.frequencies {
			s.frequencies[id] += df
		}
		s.Lower = merged(s.Lower, part.Lower)
	}
	var l loaded
	for part, row := range repeated {
		if err := s.leaveOut(&l, parts[part], row); err != nil {
			return nil, err
		}
	}
	s.FindWords()
	s.Lower = nil
	return s, nil
}

// leaveOut takes a row of a part out of the counts.
func (s *Side) leaveOut(l *loaded, part *Side, row int) error {
	ids, err := l.loadRow(part, row)
	if err != nil {
		return err
	}
	if l.surface.Length > 0 {
		s.lengths -= int64(l.surface.Length)
		s.described--
	}
	if len(ids) > 0 {
		s.tokenised--
	}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		s.frequencies[id]--
	}
	return nil
}

// merged merges two ascending lists, each number once.
func merged(a, b []uint32) []uint32 {
	if len(a) == 0 {
		return b
	}
	all := make([]uint32, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] < b[0]:
			all, a = append(all, a[0]), a[1:]
		case a[0] > b[0]:
			all, b = append(all, b[0]), b[1:]
		default:
			all, a, b = append(all, a[0]), a[1:], b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// own are the sides that have the sentences themselves.
func (s *Side) own() []*Side {
	if s.parts == nil {
		return []*Side{s}
	}
	return s.parts
}

// FindWords marks the names that are also words without a capital: words of headlines, and first words after marks that
// do not end a sentence.
func (s *Side) FindWords() {
	for _, part := range s.own() {
		part.Names.words = make([]bool, len(part.Names.entries))
		for i := range part.Names.entries {
			_, part.Names.words[i] = slices.BinarySearch(s.Lower, part.Names.entries[i].hash)
		}
	}
}

// EachID calls each with the token ids that occur in sentences and names; an id may come more than once.
func (s *Side) EachID(each func(id int32)) {
	for id, df := range s.frequencies {
		if df > 0 {
			each(int32(id))
		}
	}
	for _, part := range s.own() {
		for _, id := range part.Names.ids {
			each(id)
		}
	}
}
