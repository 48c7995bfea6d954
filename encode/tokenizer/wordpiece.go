package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// WordPieceOptions are the switches of BERT's tokenizer.
type WordPieceOptions struct {
	StripAccents bool // true for BERT's uncased models, false for the cased ones
}

// continuation is the prefix of every piece that does not begin a word.
const continuation = "##"

// unknownPiece replaces a word that cannot be split into known pieces.
const unknownPiece = "[UNK]"

// maxWord is the maximum number of letters in a word; a longer word is unknown, as in BERT.
const maxWord = 100

// NewWordPiece reads a vocab.txt, which has one piece on each line; a piece's id is the number of lines before it. Text
// is split as BERT does: control characters are removed, Chinese characters and punctuation separated, accents stripped
// if asked for, and the longest known piece is taken from each word again and again. The caller lower-cases the text
// first if the model needs it.
func NewWordPiece(vocab []byte, options WordPieceOptions) (*HuggingFace, error) {
	lines := bytes.Split(bytes.TrimSuffix(vocab, []byte("\n")), []byte("\n"))
	if len(lines) > maxID {
		return nil, errors.New("the vocabulary has more lines than ids")
	}
	ids := make(map[string]int32, len(lines))
	for id, line := range lines {
		line = bytes.TrimSuffix(line, []byte("\r"))
		if !utf8.Valid(line) {
			return nil, fmt.Errorf("line %d of the vocabulary is not UTF-8", id+1)
		}
		ids[string(line)] = int32(id)
	}
	if _, ok := ids[unknownPiece]; !ok {
		return nil, fmt.Errorf("the vocabulary has no line %s, so it is not a WordPiece vocabulary", unknownPiece)
	}
	t := newHuggingFace()
	steps := bertSteps{Clean: true, Chinese: true, Accents: &options.StripAccents}
	if err := t.addLetterwise(steps.steps()...); err != nil {
		return nil, err
	}
	t.words = []step{bertSplit}
	var err error
	t.model, err = useWords(t, wordModelSettings{Vocab: ids, Unknown: unknownPiece, Prefix: continuation, Longest: maxWord})
	return t, err
}

// wordModel is a model of type WordPiece, which takes the longest pieces from a word's beginning, or WordLevel, which
// knows whole words alone.
type wordModel struct {
	ids     map[string]int32
	unknown int32
	prefix  string // begins pieces inside a word
	longest int    // word that is split, in letters; 0: none is
	piece   int    // the longest piece, in bytes
}

// wordModelSettings is the JSON of a wordModel.
type wordModelSettings struct {
	Vocab   map[string]int32 `json:"vocab"`
	Unknown string           `json:"unk_token"`
	Prefix  string           `json:"continuing_subword_prefix"`
	Longest int              `json:"max_input_chars_per_word"`
}

func (t *HuggingFace) newWordModel(raw json.RawMessage, level bool) (*wordModel, error) {
	s := wordModelSettings{Unknown: unknownPiece, Prefix: continuation, Longest: maxWord}
	if level {
		s.Unknown = "<unk>"
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("its model cannot be read: %w", err)
	}
	if level {
		s.Longest = 0
	}
	return useWords(t, s)
}

// useWords takes the vocabulary of a wordModel.
func useWords(t *HuggingFace, s wordModelSettings) (*wordModel, error) {
	if err := t.setVocabulary(s.Vocab); err != nil {
		return nil, err
	}
	unknown, ok := s.Vocab[s.Unknown]
	if !ok {
		return nil, fmt.Errorf("its model has the unknown piece %q, which is not in its vocabulary", s.Unknown)
	}
	t.unknown = unknown
	w := &wordModel{ids: t.ids, unknown: unknown, prefix: s.Prefix, longest: s.Longest}
	for piece := range s.Vocab {
		w.piece = max(w.piece, len(piece))
	}
	return w, nil
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
		if end > w.piece {
			for end = max(w.piece, before); !utf8.RuneStart(m.letters[end]); {
				end--
			}
		}
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
