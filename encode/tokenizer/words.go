package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"bitextmine/encode/model"
	"bitextmine/encode/sentencepiece"
	"bitextmine/internal/badinput"
)

// addWords adds the steps of a pre-tokeniser.
func (t *HuggingFace) addWords(p *part) error {
	if p == nil {
		return nil
	}
	switch p.Type {
	case "Sequence":
		var all struct {
			PreTokenizers []*part `json:"pretokenizers"`
		}
		if err := json.Unmarshal(p.raw, &all); err != nil {
			return fmt.Errorf("its pre_tokenizer cannot be read: %w", err)
		}
		for _, inner := range all.PreTokenizers {
			if err := t.addWords(inner); err != nil {
				return err
			}
		}
		return nil
	case "WhitespaceSplit":
		t.words = append(t.words, func(words []string) []string {
			var all []string
			for _, word := range words {
				all = append(all, strings.FieldsFunc(word, unicode.IsSpace)...)
			}
			return all
		})
		return nil
	case "Metaspace":
		return t.addMetaspace(p.raw)
	}
	return fmt.Errorf("its pre_tokenizer has a step of type %q, which cannot be computed", p.Type)
}

// addMetaspace adds SentencePiece's way of writing spaces: a sign in their place, and one before the text.
func (t *HuggingFace) addMetaspace(raw json.RawMessage) error {
	m := struct {
		Sign   string `json:"replacement"`
		Prefix *bool  `json:"add_prefix_space"` // field of old files
		Scheme string `json:"prepend_scheme"`
		Split  bool   `json:"split"`
	}{Split: true}
	if err := json.Unmarshal(raw, &m); err != nil {
		return fmt.Errorf("its pre_tokenizer cannot be read: %w", err)
	}
	if m.Scheme == "" {
		m.Scheme = "always"
		if m.Prefix != nil && !*m.Prefix {
			m.Scheme = "never"
		}
	}
	t.words = append(t.words, func(words []string) []string {
		var all []string
		for i, word := range words {
			word = strings.ReplaceAll(word, " ", m.Sign)
			if (m.Scheme == "always" || m.Scheme == "first" && i == 0) && !strings.HasPrefix(word, m.Sign) &&
				word != "" {
				word = m.Sign + word
			}
			if !m.Split {
				all = append(all, word)
				continue
			}
			for word != "" { // a sign begins a word
				next := strings.Index(word[1:], m.Sign)
				if next < 0 {
					all = append(all, word)
					break
				}
				all, word = append(all, word[:next+1]), word[next+1:]
			}
		}
		return all
	})
	return nil
}

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
