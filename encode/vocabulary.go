package encode

import (
	"os"
	"path/filepath"
	"slices"

	"bitextmine/encode/sentencepiece"
	"bitextmine/internal/badinput"
)

// Vocabulary is a manifest's tokenizer alone: how a trainer turns text into the ids that the exported graph will be given.
type Vocabulary struct {
	splitter
	numbers numbers
}

// OpenVocabulary opens the tokenizer of a manifest whose files lie in dir.
func OpenVocabulary(dir string, t Tokenizer) (*Vocabulary, error) {
	m := &Model{Manifest: Manifest{Name: filepath.Base(dir), Tokenizer: t}, files: os.DirFS(dir), directory: dir}
	if wrong := t.wrong(); len(wrong) > 0 {
		return nil, badinput.Errorf("the tokenizer in %s: %s", dir, wrong[0])
	}
	s, err := newSplitter(m)
	if err != nil {
		return nil, err
	}
	n, err := newNumbers(m, s)
	if err != nil {
		s.Close()
		return nil, err
	}
	return &Vocabulary{s, n}, nil
}

// Number is the graph's id of a tokenizer's id.
func (v *Vocabulary) Number(id int32) int32 { return v.numbers.graph[id] }

// Ends are the graph's ids before and after every sentence: one each, or none.
func (v *Vocabulary) Ends() (bos, eos []int32) { return v.numbers.bos, v.numbers.eos }

// Rows is how many rows a table for all ids of the graph has.
func (v *Vocabulary) Rows() int {
	most := slices.Max(v.numbers.graph)
	for _, id := range slices.Concat(v.numbers.bos, v.numbers.eos) {
		most = max(most, id)
	}
	return int(most) + 1
}

// Pieces are the spellings of the graph's ids, empty where an id has none, or nil if the tokenizer is not SentencePiece.
func (v *Vocabulary) Pieces() []string {
	model, ok := v.splitter.(*sentencepiece.Model)
	if !ok {
		return nil
	}
	pieces := make([]string, v.Rows())
	for id, number := range v.numbers.graph {
		pieces[number] = model.Piece(int32(id))
	}
	return pieces
}
