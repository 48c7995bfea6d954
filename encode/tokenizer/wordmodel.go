package tokenizer

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// wordModel is a model of type WordPiece, which takes the longest pieces from a word's beginning, or WordLevel, which
// knows whole words alone.
type wordModel struct {
	ids     map[string]int32
	unknown int32
	prefix  string // of pieces inside a word
	longest int    // word that is split, in letters; 0: none is
}

func (t *HuggingFace) newWordModel(raw json.RawMessage, level bool) (*wordModel, error) {
	m := struct {
		Vocab   map[string]int32 `json:"vocab"`
		Unknown string           `json:"unk_token"`
		Prefix  string           `json:"continuing_subword_prefix"`
		Longest int              `json:"max_input_chars_per_word"`
	}{Unknown: unknownPiece, Prefix: continuation, Longest: maxWord}
	if level {
		m.Unknown = "<unk>"
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("its model cannot be read: %w", err)
	}
	if err := t.setVocabulary(m.Vocab); err != nil {
		return nil, err
	}
	unknown, ok := m.Vocab[m.Unknown]
	if !ok {
		return nil, fmt.Errorf("its model has the unknown piece %q, which is not in its vocabulary", m.Unknown)
	}
	if level {
		m.Longest = 0
	}
	t.unknown = unknown
	return &wordModel{t.ids, unknown, m.Prefix, m.Longest}, nil
}

func (w *wordModel) split(m *memory, ids []int32, word string) []int32 {
	if w.longest <= 0 {
		if id, ok := w.ids[word]; ok && w.longest == 0 {
			return append(ids, id)
		}
		return append(ids, w.unknown)
	}
	if utf8.RuneCountInString(word) > w.longest {
		return append(ids, w.unknown)
	}
	first := len(ids)
	for at := 0; at < len(word); {
		m.letters = m.letters[:0]
		if at > 0 {
			m.letters = append(m.letters, w.prefix...)
		}
		before := len(m.letters)
		m.letters = append(m.letters, word[at:]...)
		end := len(m.letters)
		for end > before {
			if id, ok := w.ids[string(m.letters[:end])]; ok {
				ids = append(ids, id)
				break
			}
			_, n := utf8.DecodeLastRune(m.letters[before:end])
			end -= n
		}
		if end == before {
			return append(ids[:first], w.unknown)
		}
		at += end - before
	}
	return ids
}
