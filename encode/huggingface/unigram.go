package huggingface

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// unigram splits a word into the pieces with the greatest sum of scores (Kudo, 2018).
type unigram struct {
	trie    *trie
	scores  []float64
	ids     map[string]int32
	unknown int32
	penalty float64 // score of an unknown letter
}

// newUnigram reads a model: pieces with scores, numbered in their order.
func (t *Tokenizer) newUnigram(raw json.RawMessage) (*unigram, error) {
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
	u := &unigram{ids: t.ids, unknown: *m.Unknown, scores: make([]float64, len(m.Vocab))}
	pieces := make([]string, len(m.Vocab))
	least := math.Inf(1)
	for id, entry := range m.Vocab {
		if err := errors.Join(json.Unmarshal(entry[0], &pieces[id]), json.Unmarshal(entry[1], &u.scores[id])); err != nil {
			return nil, fmt.Errorf("its model's entry %d is not a piece and a score: %w", id, err)
		}
		t.ids[pieces[id]] = int32(id)
		least = min(least, u.scores[id])
	}
	const below = 10
	u.penalty = least - below
	u.trie = newTrie(pieces)
	t.size, t.unknown = len(pieces), u.unknown
	return u, nil
}

// best is the best way to an end of the word.
type best struct {
	score float64
	begin int32 // of the last piece; -1: none ends here
	id    int32
}

// split appends the pieces of a word. Unknown letters side by side become one unknown piece.
func (u *unigram) split(ids []int32, word string) []int32 {
	ways := make([]best, len(word)+1)
	for i := range ways {
		ways[i].begin = -1
	}
	ways[0].begin = 0
	better := func(end, begin int, score float64, id int32) {
		if w := &ways[end]; w.begin < 0 || score > w.score {
			*w = best{score, int32(begin), id}
		}
	}
	for begin := 0; begin < len(word); {
		_, letter := utf8.DecodeRuneInString(word[begin:])
		single := false
		before := ways[begin].score
		u.trie.prefixes(word[begin:], func(length int, id int32) {
			better(begin+length, begin, u.scores[id]+before, id)
			single = single || length == letter
		})
		if !single {
			better(begin+letter, begin, u.penalty+before, u.unknown)
		}
		begin += letter
	}
	first := len(ids)
	for end := len(word); end > 0; {
		w := ways[end]
		begin := int(w.begin)
		if w.id == u.unknown {
			for begin > 0 && ways[begin].id == u.unknown {
				begin = int(ways[begin].begin)
			}
			if id, ok := u.ids[word[begin:end]]; ok {
				w.id = id
			}
		}
		ids = append(ids, w.id)
		end = begin
	}
	for i, j := first, len(ids)-1; i < j; i, j = i+1, j-1 {
		ids[i], ids[j] = ids[j], ids[i]
	}
	return ids
}
