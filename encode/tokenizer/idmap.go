package tokenizer

import (
	"bytes"
	"fmt"
	"math"

	"bitextmine/encode/model"
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
	if unknown := ids[3]; unknown != nil && s.Unknown() >= 0 {
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
