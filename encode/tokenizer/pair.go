package tokenizer

import (
	"fmt"

	"bitextmine/encode/model"
)

// TokenizePairs appends to s the graph's input for each pair of a judge: BOS, the first sentence, the tokens between
// them, the second sentence, EOS. Of a pair that is longer than max_tokens the longer sentence loses tokens at its end
// until both are equally long, and then both.
func (v *Vocabulary) TokenizePairs(s *Sequences, pairs [][2]string) error {
	between := v.model.Judge.Between
	room := v.model.Room(model.Prefix{}) - len(between)
	var sides [2]Sequences
	for side := range sides {
		texts := make([]string, len(pairs))
		for i, pair := range pairs {
			texts[i] = v.lowered(pair[side])
		}
		err := v.Encode(texts, room, func(_ int, ids []int32) {
			for _, id := range ids {
				sides[side].IDs = append(sides[side].IDs, v.ids.graph[id])
			}
			sides[side].Add(nil)
		})
		if err != nil {
			return fmt.Errorf("tokenise for judge %s: %w", v.model.Name, err)
		}
	}
	for i := range pairs {
		first, second := sides[0].At(i), sides[1].At(i)
		a, b := shared(len(first), len(second), room)
		s.IDs = append(append(s.IDs, v.ids.bos...), first[:a]...)
		s.IDs = append(append(s.IDs, between...), second[:b]...)
		s.Add(v.ids.eos)
	}
	return nil
}

// shared divides room among two sentences of so many tokens.
func shared(first, second, room int) (a, b int) {
	if first+second <= room {
		return first, second
	}
	a = min(first, max(room-second, (room+1)/2))
	return a, min(second, room-a)
}
