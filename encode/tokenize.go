package encode

import (
	"fmt"
	"io/fs"

	"bitextmine/encode/sentencepiece"
	"bitextmine/encode/wordpiece"
	"bitextmine/internal/badinput"
)

// splitter turns texts into ids of the tokenizer's file. All methods may be called from any number of goroutines. Close
// must be called last.
type splitter interface {
	// Encode calls yield once for every text, in order, with its ids truncated to the first maxIDs. yield must not
	// retain the slice.
	Encode(texts []string, maxIDs int, yield func(i int, ids []int32)) error
	// Size is the number of pieces; every id is less than it.
	Size() int
	// ID returns the id of a piece, and false if the file does not have it.
	ID(piece string) (int32, bool)
	// Unknown is the id for text that the file has no piece for.
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

// tokens is a list of token sequences in one slice: sequence i is ids[ends[i-1]:ends[i]].
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

// tokenize appends to t the graph's input for each text: BOS, prefix, the text's own ids truncated to what max_tokens
// leaves, EOS. A text without any id becomes one unknown token, because an empty sequence has no vector. texts is
// overwritten.
func (e *Encoder) tokenize(t *tokens, prefix Prefix, texts []string) error {
	for i := range texts {
		if e.model.Tokenizer.Lowercase {
			texts[i] = Lowercase(texts[i])
		}
		texts[i] = prefix.Text + texts[i]
	}
	maxIDs := e.model.MaxTokens - e.model.specials(prefix)
	err := e.splitter.Encode(texts, maxIDs, func(_ int, ids []int32) {
		t.ids = append(t.ids, e.ids.bos...)
		t.ids = append(t.ids, prefix.Tokens...)
		for _, id := range ids {
			t.ids = append(t.ids, e.ids.graph[id])
		}
		if len(ids) == 0 {
			t.ids = append(t.ids, e.ids.graph[e.splitter.Unknown()])
		}
		t.ids = append(t.ids, e.ids.eos...)
		t.ends = append(t.ends, len(t.ids))
	})
	if err != nil {
		return fmt.Errorf("tokenise for encoder %s: %w", e.model.Name, err)
	}
	return nil
}
