package tokenizer

// Sequences are token ids of sentences in one slice: sentence i has IDs[Ends[i-1]:Ends[i]].
type Sequences struct {
	IDs  []int32
	Ends []int
}

// Reset removes all sentences and keeps the memory.
func (s *Sequences) Reset() { s.IDs, s.Ends = s.IDs[:0], s.Ends[:0] }

// At returns the ids of sentence i.
func (s *Sequences) At(i int) []int32 {
	if i == 0 {
		return s.IDs[:s.Ends[0]]
	}
	return s.IDs[s.Ends[i-1]:s.Ends[i]]
}

// Add appends a sentence.
func (s *Sequences) Add(ids []int32) {
	s.IDs = append(s.IDs, ids...)
	s.Ends = append(s.Ends, len(s.IDs))
}
