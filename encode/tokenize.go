package encode

import (
	"fmt"
	"io/fs"

	"bitextmine/encode/sentencepiece"
	"bitextmine/encode/wordpiece"
	"bitextmine/internal/badinput"
)

// splitter turns texts into the ids of its file. Every method may be called from any number of goroutines; Close is last.
type splitter interface {
	// Encode calls yield once for every text, in order, with its ids, cut to the first most; yield must not keep the slice.
	Encode(texts []string, most int, yield func(i int, ids []int32)) error
	// Size is the number of pieces: ids are below it.
	Size() int
	// ID is the number of a piece.
	ID(piece string) (int32, bool)
	// Unknown is the id of the piece that stands for what the file does not know.
	Unknown() int32
	Close()
}

func newSplitter(m *Model) (splitter, error) {
	data, err := fs.ReadFile(m.files, m.Tokenizer.File)
	if err != nil {
		return nil, badinput.Errorf("read %s of encoder %s: %w", m.shown(m.Tokenizer.File), m.Name, err)
	}
	var s splitter
	switch m.Tokenizer.Kind {
	case "sentencepiece":
		s, err = sentencepiece.New(data)
	case "wordpiece":
		s, err = wordpiece.New(data, wordpiece.Options{StripAccents: m.Tokenizer.StripAccents})
	}
	if err != nil {
		return nil, badinput.Errorf("%s of encoder %s (tokenizer.file in its manifest): %w", m.shown(m.Tokenizer.File), m.Name, err)
	}
	return s, nil
}

// tokens is a run of token sequences, back to back: sequence i is ids[ends[i-1]:ends[i]].
type tokens struct {
	ids  []int32
	ends []int
}

func (t *tokens) reset() { t.ids, t.ends = t.ids[:0], t.ends[:0] }

// at returns sequence i.
func (t *tokens) at(i int) []int32 {
	if i == 0 {
		return t.ids[:t.ends[0]]
	}
	return t.ids[t.ends[i-1]:t.ends[i]]
}

// tokenize appends to t what the graph is given for each text: beginning, prefix, the text's own ids cut to what is
// left of max_tokens, end. A text of which the tokenizer leaves nothing stands as one unknown token, as an empty
// sequence has no vector. texts is overwritten.
func (e *Encoder) tokenize(t *tokens, prefix Prefix, texts []string) error {
	for i := range texts {
		if e.model.Tokenizer.Lowercase {
			texts[i] = Lowercase(texts[i])
		}
		texts[i] = prefix.Text + texts[i]
	}
	most := e.model.MaxTokens - e.model.specials(prefix)
	err := e.splitter.Encode(texts, most, func(_ int, ids []int32) {
		t.ids = append(t.ids, e.numbers.bos...)
		t.ids = append(t.ids, prefix.Tokens...)
		for _, id := range ids {
			t.ids = append(t.ids, e.numbers.graph[id])
		}
		if len(ids) == 0 {
			t.ids = append(t.ids, e.numbers.graph[e.splitter.Unknown()])
		}
		t.ids = append(t.ids, e.numbers.eos...)
		t.ends = append(t.ends, len(t.ids))
	})
	if err != nil {
		return fmt.Errorf("tokenise for encoder %s: %w", e.model.Name, err)
	}
	return nil
}
