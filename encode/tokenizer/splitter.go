package tokenizer

import (
	"bitextmine/encode/model"
	"bitextmine/encode/sentencepiece"

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

func newSplitter(m *model.Model) (splitter, error) {
	data, err := m.ReadFile(m.Tokenizer.File)
	if err != nil {
		return nil, err
	}
	var s splitter
	switch m.Tokenizer.Kind {
	case "sentencepiece":
		s, err = sentencepiece.New(data)
	case "wordpiece":
		s, err = NewWordPiece(data, WordPieceOptions{StripAccents: m.Tokenizer.StripAccents})
	case "huggingface":
		s, err = NewHuggingFace(data)
	}
	if err != nil {
		return nil, badinput.Errorf("%s of encoder %s (tokenizer.file in its manifest): %w", m.Path(m.Tokenizer.File),
			m.Name, err)
	}
	return s, nil
}
