package pipeline

import (
	"cmp"
	"fmt"
	"slices"

	"bitextmine/corpus"
)

// sentences numbers the distinct sentences of one side in key order, so that the result does not show how they were sharded.
type sentences struct {
	rows  [][]int32 // [shard][row] the sentence's number
	first []place   // by number: its first occurrence, which is its provenance
}

// place is a row of a shard.
type place struct {
	shard int32
	row   uint32
}

func (s *sentences) len() int { return len(s.first) }

// numberSentences reads the keys of a side's shards.
func numberSentences(s *side) (*sentences, error) {
	type occurrence struct {
		key corpus.Key
		place
	}
	all := make([]occurrence, 0, s.rows())
	numbered := &sentences{rows: make([][]int32, len(s.shards))}
	for i, shard := range s.shards {
		keys, err := readKeys(shard.path)
		if err != nil {
			return nil, err
		}
		if len(keys) != shard.rows {
			return nil, fmt.Errorf("shard %s has %d keys for %d rows", shard.name, len(keys), shard.rows)
		}
		numbered.rows[i] = make([]int32, shard.rows)
		for row, key := range keys {
			all = append(all, occurrence{key, place{int32(i), uint32(row)}})
		}
	}
	slices.SortFunc(all, func(a, b occurrence) int {
		return cmp.Or(a.key.Compare(b.key), cmp.Compare(a.shard, b.shard), cmp.Compare(a.row, b.row))
	})
	for i, o := range all {
		if i == 0 || o.key != all[i-1].key {
			numbered.first = append(numbered.first, o.place)
		}
		numbered.rows[o.shard][o.row] = int32(len(numbered.first) - 1)
	}
	return numbered, nil
}
