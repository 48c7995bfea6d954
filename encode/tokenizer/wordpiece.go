package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"bitextmine/encode/tokenizer/pattern"
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

// WordPiece is a loaded vocab.txt. It splits text as BERT does: it removes control characters, separates Chinese
// characters and punctuation, optionally strips accents, and then repeatedly takes the longest known piece from each
// word. The caller lower-cases the text first if the model needs it. It is only read, so any number of goroutines may
// use it.
type WordPiece struct {
	options WordPieceOptions
	starts  map[string]int32 // pieces that begin a word
	inner   map[string]int32 // pieces inside a word, without the ##
	longest int              // length in bytes of the longest piece
	unknown int32
	size    int
}

// NewWordPiece reads a vocabulary: one piece on each line. A piece's id is the number of lines before it.
func NewWordPiece(vocab []byte, options WordPieceOptions) (*WordPiece, error) {
	lines := bytes.Split(bytes.TrimSuffix(vocab, []byte("\n")), []byte("\n"))
	v := &WordPiece{options: options, starts: map[string]int32{}, inner: map[string]int32{}, unknown: -1,
		size: len(lines)}
	if len(lines) > math.MaxInt32 {
		return nil, errors.New("the vocabulary has more lines than ids")
	}
	for id, line := range lines {
		line = bytes.TrimSuffix(line, []byte("\r"))
		if !utf8.Valid(line) {
			return nil, fmt.Errorf("line %d of the vocabulary is not UTF-8", id+1)
		}
		v.longest = max(v.longest, len(line))
		piece := string(line)
		if piece == unknownPiece {
			v.unknown = int32(id)
		}
		if rest, ok := bytes.CutPrefix(line, []byte(continuation)); ok && len(rest) > 0 {
			v.inner[string(rest)] = int32(id)
		}
		v.starts[piece] = int32(id)
	}
	if v.unknown < 0 {
		return nil, fmt.Errorf("the vocabulary has no line %s, so it is not a WordPiece vocabulary", unknownPiece)
	}
	return v, nil
}

// Size is the number of pieces.
func (v *WordPiece) Size() int { return v.size }

// ID returns the id of a piece, spelled as in the file with its ##.
func (v *WordPiece) ID(piece string) (int32, bool) {
	id, ok := v.starts[piece]
	return id, ok
}

// Unknown is the id of [UNK].
func (v *WordPiece) Unknown() int32 { return v.unknown }

// Close does nothing: a vocabulary holds only Go memory.
func (v *WordPiece) Close() {}

// Encode calls yield with the ids of each text, in order, truncated to the first maxIDs. yield must not retain the
// slice. A text of only white space and control characters has no ids.
func (v *WordPiece) Encode(texts []string, maxIDs int, yield func(i int, ids []int32)) error {
	if maxIDs <= 0 {
		return fmt.Errorf("split into at most %d pieces: the number must be positive", maxIDs)
	}
	var ids []int32
	var letters []byte
	for i, text := range texts {
		ids = ids[:0]
		letters = v.words(letters[:0], text, func(word []byte) bool {
			ids = v.pieces(ids, word)
			return len(ids) < maxIDs
		})
		yield(i, ids[:min(len(ids), maxIDs)])
	}
	return nil
}

// pieces appends the ids of one word: again and again the longest piece that the rest of the word begins with, or [UNK]
// alone if there is none.
func (v *WordPiece) pieces(ids []int32, word []byte) []int32 {
	if utf8.RuneCount(word) > maxWord {
		return append(ids, v.unknown)
	}
	before := len(ids)
	known := v.starts
	for len(word) > 0 {
		end := min(len(word), v.longest)
		for end > 0 {
			if end == len(word) || utf8.RuneStart(word[end]) {
				if id, ok := known[string(word[:end])]; ok {
					ids = append(ids, id)
					break
				}
			}
			end--
		}
		if end == 0 {
			return append(ids[:before], v.unknown)
		}
		word, known = word[end:], v.inner
	}
	return ids
}

// words calls word with each word of text until it returns false. It is BERT's "basic tokenizer": a word is a run of
// letters between white space; each punctuation mark and each Chinese character is a word of its own. buf is scratch
// space and is returned for the next call.
func (v *WordPiece) words(buf []byte, text string, word func([]byte) bool) []byte {
	if v.options.StripAccents {
		text = norm.NFD.String(text)
	}
	for _, r := range text {
		switch {
		case pattern.Dropped.Has(r) || v.options.StripAccents && pattern.Marks.Has(r):
			continue
		case pattern.Spaces.Has(r):
			if len(buf) > 0 && !word(buf) {
				return buf
			}
			buf = buf[:0]
		case pattern.Punctuation.Has(r) || pattern.Chinese.Has(r):
			if len(buf) > 0 && !word(buf) {
				return buf
			}
			buf = append(buf[:0], string(r)...)
			if !word(buf) {
				return buf
			}
			buf = buf[:0]
		default:
			buf = append(buf, string(r)...)
		}
	}
	if len(buf) > 0 {
		word(buf)
	}
	return buf
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
	w := &wordModel{ids: t.ids, unknown: unknown, prefix: m.Prefix, longest: m.Longest}
	for piece := range m.Vocab {
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
