package tokenizer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"bitextmine/encode/sentencepiece"
)

// pieces are a unigram model.
type pieces struct {
	*sentencepiece.Unigram
	ids   map[string]int32
	bytes []int32 // ids of bytes, which unknown text becomes; nil: it becomes the unknown piece
}

// unigramMemory is the working memory of splitting a word.
type unigramMemory struct {
	ways []sentencepiece.Way
	word []byte
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
	if m.Unknown == nil || *m.Unknown < 0 || int(*m.Unknown) >= len(m.Vocab) || len(m.Vocab) > maxID {
		return nil, errors.New("its model has no unknown piece (unk_id)")
	}
	spellings, scores := make([]string, len(m.Vocab)), make([]float64, len(m.Vocab))
	least := math.Inf(1)
	for id, entry := range m.Vocab {
		if err := errors.Join(json.Unmarshal(entry[0], &spellings[id]),
			json.Unmarshal(entry[1], &scores[id])); err != nil {
			return nil, fmt.Errorf("its model's entry %d is not a piece and a score: %w", id, err)
		}
		scores[id] = rustFloat(string(entry[1]), scores[id])
		t.ids[spellings[id]] = int32(id)
		least = min(least, scores[id])
	}
	const below = 10
	model, _ := sentencepiece.NewUnigram(spellings, scores)
	if model == nil {
		return nil, errors.New("its model has a piece with a zero byte, or too many pieces")
	}
	model.Unknown, model.Penalty = *m.Unknown, least-below
	p := &pieces{Unigram: model, ids: t.ids}
	if m.Fallback {
		p.bytes = byteIDs(t.ids)
	}
	t.size, t.pieces, t.unknown = len(spellings), len(spellings), p.Unknown
	return p, nil
}

// rustFloat is a number as Rust's serde_json reads it: its digits as one number, divided by a power of ten. The last
// bit may differ from the exact value, and decides between ways whose scores are equal. Numbers with an exponent, or
// of more digits than 64 bits hold before the point, are as given.
func rustFloat(text string, exact float64) float64 {
	digits, negative := strings.CutPrefix(text, "-")
	var number uint64
	places, point := 0, false
	for i := range len(digits) {
		c := digits[i]
		if c == '.' {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			return exact
		}
		digit := uint64(c - '0')
		if most := uint64(math.MaxUint64 / 10); number > most || number == most && digit > math.MaxUint64%10 {
			if !point {
				return exact
			}
			break // further digits are left out
		}
		number = number*10 + digit
		if point {
			places++
		}
	}
	value := float64(number) / math.Pow10(places)
	if negative {
		return -value
	}
	return value
}

// split appends the pieces of a word. Unknown letters side by side become one unknown piece, or their bytes.
func (p *pieces) split(m *memory, ids []int32, word string) []int32 {
	u := &m.unigram
	u.word = append(u.word[:0], word...)
	u.ways = p.Best(u.ways, u.word)
	first := len(ids)
	for end := len(word); end > 0; {
		w := u.ways[end]
		begin := int(w.Begin)
		if w.ID == p.Unknown {
			for begin > 0 && u.ways[begin].ID == p.Unknown {
				begin = int(u.ways[begin].Begin)
			}
			if id, ok := p.ids[word[begin:end]]; ok {
				w.ID = id
			} else if before := len(ids); p.bytes != nil {
				for at := end - 1; at >= begin && p.bytes[word[at]] >= 0; at-- {
					ids = append(ids, p.bytes[word[at]])
				}
				if len(ids)-before == end-begin {
					end = begin
					continue
				}
				ids = ids[:before]
			}
		}
		ids = append(ids, w.ID)
		end = begin
	}
	slices.Reverse(ids[first:])
	return ids
}
