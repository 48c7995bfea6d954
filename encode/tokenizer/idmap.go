package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"bitextmine/encode/model"
	"bitextmine/encode/sentencepiece"
	"bitextmine/internal/badinput"
)

// fairseqSpecials is the number of ids that fairseq reserves before the first line of a dictionary: <s>, <pad>, </s>
// and <unk>.
const (
	fairseqSpecials = 4
	fairseqUnknown  = 3
)

// idMap maps ids of the tokenizer's file to ids of the graph.
type idMap struct {
	graph    []int32 // [pieces in the file]
	bos, eos []int32 // one id each, or none
}

func newIDMap(m *model.Model, s splitter) (idMap, error) {
	n := idMap{graph: make([]int32, s.Size())}
	for id := range n.graph {
		n.graph[id] = int32(id) + m.Tokenizer.Offset
	}
	if m.Tokenizer.Dictionary != "" {
		if err := n.readDictionary(m, s); err != nil {
			return n, err
		}
	}
	ids := make([][]int32, 0, 4)
	for _, special := range m.Tokenizer.Specials() {
		id, err := n.special(m, s, special)
		if err != nil {
			return n, err
		}
		ids = append(ids, id)
	}
	n.bos, n.eos = ids[0], ids[1]
	if unknown := ids[3]; unknown != nil {
		n.graph[s.Unknown()] = unknown[0]
	}
	for id, number := range n.graph {
		if number < 0 {
			return n, badinput.Errorf(
				"%s of encoder %s: with tokenizer.offset %d, id %d of %s becomes negative: correct the offset",
				m.Path(model.FileName), m.Name, m.Tokenizer.Offset, id, m.Tokenizer.File)
		}
	}
	return n, nil
}

// special resolves a special token to a slice of one id, or to none if the token is not set.
func (n idMap) special(m *model.Model, s splitter, special model.Special) ([]int32, error) {
	if special.Token == nil {
		return nil, nil
	}
	if special.Token.Piece == "" {
		return []int32{special.Token.ID}, nil
	}
	id, ok := s.ID(special.Token.Piece)
	if !ok {
		return nil, badinput.Errorf(
			"%s of encoder %s: %s is %q, which is not a piece of %s: give one that is, or the graph's id",
			m.Path(model.FileName), m.Name, special.Field, special.Token.Piece, m.Tokenizer.File)
	}
	return []int32{n.graph[id]}, nil
}

// readDictionary numbers the pieces as fairseq does: its special symbols, then the lines ("piece count") of the
// dictionary in order. A piece without a line gets the unknown id.
func (n idMap) readDictionary(m *model.Model, s splitter) error {
	data, err := m.ReadFile(m.Tokenizer.Dictionary)
	if err != nil {
		return err
	}
	for id := range n.graph {
		n.graph[id] = fairseqUnknown
	}
	lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
	if len(lines) > math.MaxInt32-fairseqSpecials {
		return fmt.Errorf("read %s: too many lines", m.Path(m.Tokenizer.Dictionary))
	}
	known := 0
	for i, line := range lines {
		cut := bytes.LastIndexByte(line, ' ')
		if cut < 1 {
			return badinput.Errorf(
				"%s:%d of encoder %s is not a piece, a space and a count: name fairseq's dictionary in tokenizer.dictionary",
				m.Path(m.Tokenizer.Dictionary), i+1, m.Name)
		}
		if id, ok := s.ID(string(line[:cut])); ok {
			n.graph[id] = int32(i + fairseqSpecials)
			known++
		}
	}
	if known == 0 {
		return badinput.Errorf("%s of encoder %s has no piece of %s: the two belong to different models",
			m.Path(m.Tokenizer.Dictionary), m.Name, m.Tokenizer.File)
	}
	return nil
}

// pieces are a unigram model.
type pieces struct {
	*sentencepiece.Unigram
	ids map[string]int32
}

// newUnigram reads a model: pieces with scores, numbered in their order.
func (t *HuggingFace) newUnigram(raw json.RawMessage) (*pieces, error) {
	var m struct {
		Unknown  *int32               `json:"unk_id"`
		Vocab    [][2]json.RawMessage `json:"vocab"`
		Fallback bool                 `json:"byte_fallback"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("its model cannot be read: %w", err)
	}
	if m.Unknown == nil || *m.Unknown < 0 || int(*m.Unknown) >= len(m.Vocab) || len(m.Vocab) > math.MaxInt32 {
		return nil, errors.New("its model has no unknown piece (unk_id)")
	}
	if m.Fallback {
		return nil, errors.New("its model has byte_fallback, which is not computed")
	}
	spellings, scores := make([]string, len(m.Vocab)), make([]float64, len(m.Vocab))
	least := math.Inf(1)
	for id, entry := range m.Vocab {
		if err := errors.Join(json.Unmarshal(entry[0], &spellings[id]),
			json.Unmarshal(entry[1], &scores[id])); err != nil {
			return nil, fmt.Errorf("its model's entry %d is not a piece and a score: %w", id, err)
		}
		t.ids[spellings[id]] = int32(id)
		least = min(least, scores[id])
	}
	const below = 10
	model, _ := sentencepiece.NewUnigram(spellings, scores)
	if model == nil {
		return nil, errors.New("its model has a piece with a zero byte, or too many pieces")
	}
	model.Unknown, model.Penalty = *m.Unknown, least-below
	p := &pieces{model, t.ids}
	t.size, t.unknown = len(spellings), p.Unknown
	return p, nil
}

// split appends the pieces of a word. Unknown letters side by side become one unknown piece.
func (p *pieces) split(ids []int32, word string) []int32 {
	ways := p.Best(nil, []byte(word))
	first := len(ids)
	for end := len(word); end > 0; {
		w := ways[end]
		begin := int(w.Begin)
		if w.ID == p.Unknown {
			for begin > 0 && ways[begin].ID == p.Unknown {
				begin = int(ways[begin].Begin)
			}
			if id, ok := p.ids[word[begin:end]]; ok {
				w.ID = id
			}
		}
		ids = append(ids, w.ID)
		end = begin
	}
	slices.Reverse(ids[first:])
	return ids
}
