// A tokenizer.json of Hugging Face's library: added tokens are taken out of a text, what is between them is normalised
// and split into words, and a model splits each word. Every part is computed as that library does, also where it
// differs from SentencePiece; a file with a part that is not is refused. No Go library computes all of it: those that
// do bind the Rust library and ship no program code for it, and sugarme/tokenizer differs on every tenth line.

package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"bitextmine/encode/tokenizer/pattern"
)

// HuggingFace is a loaded tokenizer.json, or vocab.txt. It is only read, so any number of goroutines may use it.
type HuggingFace struct {
	raw, normal  *finder // added tokens in the original and in the normalised text; nil: there are none
	normalise    []normaliser
	letterwise   *letterwise // the last step, if normalise has letterwiseAt of them
	letterwiseAt int
	words        []step
	model        textSplitter
	ids          map[string]int32
	size         int
	pieces       int // number of the model's pieces
	unknown      int32
	keepEnd      bool // a long text loses its beginning
	memory       sync.Pool
	// First and Last are the special tokens around every text, or empty.
	First, Last string
}

// textSplitter splits a word that is not empty.
type textSplitter interface {
	split(m *memory, ids []int32, word string) []int32
}

// memory holds the working buffers of splitting a text, and the words that were split before.
type memory struct {
	pieces, before []piece
	spans          []span
	matcher        pattern.Matcher
	letters        []byte
	ends           []int
	ids            []int32
	bpe            bpeMemory
	unigram        unigramMemory
	known          map[string][2]int32 // begin and end in store
	store          []int32
}

// Words of at most maxKnownLength bytes are remembered, at most maxKnown of them.
const (
	maxKnownLength = 48
	maxKnown       = 1 << 15
)

// part is the JSON of a normaliser, a pre-tokeniser, a post-processor or a model.
type part struct {
	Type string `json:"type"`
	raw  json.RawMessage
}

// UnmarshalJSON keeps the whole object.
func (p *part) UnmarshalJSON(raw []byte) error {
	type plain part
	p.raw = append(json.RawMessage(nil), raw...)
	return json.Unmarshal(raw, (*plain)(p))
}

func newHuggingFace() *HuggingFace {
	t := &HuggingFace{ids: map[string]int32{}, unknown: -1}
	t.memory.New = func() any { return &memory{known: map[string][2]int32{}} }
	return t
}

// NewHuggingFace reads a tokenizer.json.
func NewHuggingFace(data []byte) (*HuggingFace, error) {
	var file struct {
		Normalizer    *part        `json:"normalizer"`
		PreTokenizer  *part        `json:"pre_tokenizer"`
		PostProcessor *part        `json:"post_processor"`
		Model         *part        `json:"model"`
		Added         []addedToken `json:"added_tokens"`
		Truncation    *struct {
			Direction string `json:"direction"`
		} `json:"truncation"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("it is not a tokenizer.json: %w", err)
	}
	if file.Model == nil {
		return nil, errors.New("it is not a tokenizer.json: it has no model")
	}
	t := newHuggingFace()
	if file.Truncation != nil {
		t.keepEnd = strings.EqualFold(file.Truncation.Direction, "left")
	}
	if err := t.addNormaliser(file.Normalizer, 0); err != nil {
		return nil, err
	}
	if err := t.addWords(file.PreTokenizer, 0); err != nil {
		return nil, err
	}
	if err := t.readModel(file.Model); err != nil {
		return nil, err
	}
	if err := t.addTokens(file.Added); err != nil {
		return nil, err
	}
	if err := t.readEnds(file.PostProcessor, 0); err != nil {
		return nil, err
	}
	return t, nil
}

// readModel reads the vocabulary.
func (t *HuggingFace) readModel(p *part) error {
	var err error
	switch p.Type {
	case "Unigram":
		t.model, err = t.newUnigram(p.raw)
	case "BPE":
		t.model, err = t.newBPE(p.raw)
	case "WordPiece", "WordLevel":
		t.model, err = t.newWordModel(p.raw, p.Type == "WordLevel")
	default:
		err = fmt.Errorf("its model is of type %q, but only Unigram, BPE, WordPiece and WordLevel can be computed", p.Type)
	}
	return err
}

// maxID bounds the memory that a table of all ids takes.
const maxID = 1 << 24

// setVocabulary takes the pieces of a model.
func (t *HuggingFace) setVocabulary(vocabulary map[string]int32) error {
	for piece, id := range vocabulary {
		if id < 0 || id > maxID {
			return fmt.Errorf("its model gives %q the id %d, which is no row of a table", piece, id)
		}
		t.size = max(t.size, int(id)+1)
	}
	if vocabulary != nil {
		t.ids = vocabulary
	}
	t.pieces = len(t.ids)
	return nil
}

// special is a token with its ids in a template.
type special struct {
	IDs []int32 `json:"ids"`
}

// putEnd puts a special token before or after a text.
func (t *HuggingFace) putEnd(before bool, token string, id int32) error {
	side := &t.Last
	if before {
		side = &t.First
	}
	if known, ok := t.ids[token]; !ok || known != id {
		return fmt.Errorf("its post_processor names %q with the id %d, which is no token of it", token, id)
	}
	if *side != "" {
		return errors.New("its post_processor puts several special tokens at one side, and only one can be put there")
	}
	*side = token
	return nil
}

// endSettings are the settings of a post-processor, of whatever type.
type endSettings struct {
	Inner  []*part `json:"processors"`
	Single []struct {
		Special *struct {
			ID string `json:"id"`
		} `json:"SpecialToken"`
		Sequence *struct {
			ID string `json:"id"`
		} `json:"Sequence"`
	} `json:"single"`
	Specials map[string]special `json:"special_tokens"`
	CLS      []any              `json:"cls"`
	SEP      []any              `json:"sep"`
}

// readEnds reads which special tokens stand around a text.
func (t *HuggingFace) readEnds(p *part, depth int) error {
	if p == nil {
		return nil
	}
	var all endSettings
	if err := json.Unmarshal(p.raw, &all); err != nil {
		return fmt.Errorf("its post_processor cannot be read: %w", err)
	}
	switch p.Type {
	case "TemplateProcessing":
		before := true
		for _, item := range all.Single {
			if item.Special == nil {
				if item.Sequence == nil || item.Sequence.ID == "B" || !before {
					return errors.New("its post_processor has a template that is not one text between special tokens")
				}
				before = false
				continue
			}
			id, listed := t.ids[item.Special.ID]
			if s, ok := all.Specials[item.Special.ID]; ok {
				if len(s.IDs) != 1 {
					return fmt.Errorf("its post_processor puts %d ids for %q", len(s.IDs), item.Special.ID)
				}
				id, listed = s.IDs[0], true
			}
			if !listed {
				id = -1
			}
			if err := t.putEnd(before, item.Special.ID, id); err != nil {
				return err
			}
		}
	case "RobertaProcessing", "BertProcessing":
		for i, pair := range [][]any{all.CLS, all.SEP} {
			if len(pair) == 0 && len(all.SEP) == 0 {
				continue
			}
			if len(pair) != 2 {
				return errors.New("its post_processor has cls or sep without a token and its id")
			}
			token, _ := pair[0].(string)
			id, _ := pair[1].(float64)
			if err := t.putEnd(i == 0, token, int32(id)); err != nil {
				return err
			}
		}
	case "ByteLevel": // it changes offsets alone
	case "Sequence":
		return inTurn(all.Inner, depth, t.readEnds)
	default:
		return fmt.Errorf("its post_processor is of type %q, which cannot be computed", p.Type)
	}
	return nil
}

// Size is the number of ids.
func (t *HuggingFace) Size() int { return t.size }

// ID returns the id of a piece or an added token.
func (t *HuggingFace) ID(piece string) (int32, bool) {
	id, ok := t.ids[piece]
	return id, ok
}

// Unknown is the id for text that there is no piece for, or -1: a model of all bytes needs none.
func (t *HuggingFace) Unknown() int32 { return t.unknown }

// Close does nothing: a tokenizer holds only Go memory.
func (t *HuggingFace) Close() {}

// Encode calls yield with the ids of each text, in order, truncated to maxIDs: the first, or the last if the file says
// so. yield must not retain the slice.
func (t *HuggingFace) Encode(texts []string, maxIDs int, yield func(i int, ids []int32)) error {
	if maxIDs <= 0 {
		return fmt.Errorf("split into at most %d pieces: the number must be positive", maxIDs)
	}
	m := t.memory.Get().(*memory)
	defer t.memory.Put(m)
	for i, text := range texts {
		m.matcher.Reset()
		t.split(m, text)
		m.ids = m.ids[:0]
		for _, p := range m.pieces {
			if p.id >= 0 {
				m.ids = append(m.ids, p.id)
			} else {
				t.word(m, p.text)
			}
			if len(m.ids) >= maxIDs && !t.keepEnd {
				break
			}
		}
		if err := m.matcher.Err(); err != nil {
			return err
		}
		ids := m.ids
		if over := len(ids) - maxIDs; over > 0 && t.keepEnd {
			ids = ids[over:]
		}
		yield(i, ids[:min(len(ids), maxIDs)])
	}
	return nil
}

// split makes the pieces of a text.
func (t *HuggingFace) split(m *memory, text string) {
	m.pieces = m.pieces[:0]
	t.raw.split(m, text, true)
	if len(t.normalise) > 0 || t.normal != nil {
		m.splitPieces(func(m *memory, p piece) {
			for _, step := range t.normalise {
				var moved bool
				p.text, moved = step(m, p.text)
				p.start = p.start && !moved
			}
			t.normal.split(m, p.text, p.start)
		})
	}
	for _, s := range t.words {
		m.splitPieces(s)
	}
}

// word appends the ids of a word to m.ids.
func (t *HuggingFace) word(m *memory, word string) {
	if len(word) > maxKnownLength {
		m.ids = t.model.split(m, m.ids, word)
		return
	}
	if at, ok := m.known[word]; ok {
		m.ids = append(m.ids, m.store[at[0]:at[1]]...)
		return
	}
	first := len(m.ids)
	m.ids = t.model.split(m, m.ids, word)
	if len(m.known) >= maxKnown {
		clear(m.known)
		m.store = m.store[:0]
	}
	begin := int32(len(m.store))
	m.store = append(m.store, m.ids[first:]...)
	m.known[strings.Clone(word)] = [2]int32{begin, int32(len(m.store))}
}
