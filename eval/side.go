package eval

import (
	"cmp"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/encode/embedding"
	"bitextmine/eval/testset"
)

// arranged is a side in key order. Package mine needs this order because it breaks ties by row.
type arranged struct {
	rows     embedding.Matrix // [m, dim]
	sentence []int32          // [m] the sentence in each row; the first one if several share a row
	row      []int32          // [n] the row of each sentence
	repeated []bool           // [m] true if several sentences share the row (unify only)
}

// arrange sorts a side by the key of its text, then id, then line. With unify, sentences with the same text share a
// row.
func arrange(v testset.EncodedSide, unify bool) arranged {
	n := len(v.Texts)
	keys := make([]corpus.Key, n)
	order := make([]int32, n)
	for i, text := range v.Texts {
		keys[i], order[i] = corpus.KeyOf(text), int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		if c := keys[a].Compare(keys[b]); c != 0 {
			return c
		}
		if v.IDs != nil {
			if c := strings.Compare(v.IDs[a], v.IDs[b]); c != 0 {
				return c
			}
		}
		return cmp.Compare(a, b)
	})
	out := arranged{row: make([]int32, n)}
	for i, s := range order {
		if unify && i > 0 && v.Texts[s] == v.Texts[order[i-1]] {
			out.repeated[len(out.repeated)-1] = true
		} else {
			out.sentence = append(out.sentence, s)
			out.repeated = append(out.repeated, false)
		}
		out.row[s] = int32(len(out.sentence) - 1)
	}
	out.rows = testset.Gather(v.Rows, out.sentence)
	return out
}
