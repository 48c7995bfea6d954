package encode

import (
	"os"
	"path/filepath"
	"slices"

	"bitextmine/encode/sentencepiece"
	"bitextmine/internal/badinput"
)

// Vocabulary is the tokenizer of a manifest without its graph. A trainer uses it to turn text into the ids that the
// exported graph will get.
type Vocabulary struct {
	splitter
	ids idMap
}

// OpenVocabulary opens the tokenizer of a manifest whose files are in dir.
func OpenVocabulary(dir string, t Tokenizer) (*Vocabulary, error) {
	m := &Model{Manifest: Manifest{Name: filepath.Base(dir), Tokenizer: t}, files: os.DirFS(dir), directory: dir}
	if wrong := t.wrong(); len(wrong) > 0 {
		return nil, badinput.Errorf("the tokenizer in %s: %s", dir, wrong[0])
	}
	s, err := newSplitter(m)
	if err != nil {
		return nil, err
	}
	n, err := newIDMap(m, s)
	if err != nil {
		s.Close()
		return nil, err
	}
	return &Vocabulary{s, n}, nil
}

// Number returns the graph's id for an id of the tokenizer.
func (v *Vocabulary) Number(id int32) int32 { return v.ids.graph[id] }

// Ends returns the graph's ids before and after every sentence: one each, or none.
func (v *Vocabulary) Ends() (bos, eos []int32) { return v.ids.bos, v.ids.eos }

// Rows is the number of rows that an embedding table needs for all ids of the graph.
func (v *Vocabulary) Rows() int {
	most := slices.Max(v.ids.graph)
	for _, id := range slices.Concat(v.ids.bos, v.ids.eos) {
		most = max(most, id)
	}
	return int(most) + 1
}

// Pieces returns the spellings of the graph's ids, empty where an id has none. It is nil if the tokenizer is not
// SentencePiece.
func (v *Vocabulary) Pieces() []string {
	model, ok := v.splitter.(*sentencepiece.Model)
	if !ok {
		return nil
	}
	pieces := make([]string, v.Rows())
	for id, number := range v.ids.graph {
		pieces[number] = model.Piece(int32(id))
	}
	return pieces
}
