package inject

import (
	"slices"

	"bitextmine/corpus"
	"bitextmine/score"
)

// Order is how the sentences of an injection are numbered. Numbers decide ties, which sentences of the same words give.
type Order uint8

// The orders.
const (
	Appended Order = iota // the injected sentences after the host's, in the order of the pairs
	ByKey                 // all in the order of their keys, as a run numbers them
)

// numbers are those of a side's sentences.
type numbers struct {
	own, added []int32
	order      []int32 // places of the injected sentences in key order; nil if they are not in that order
}

// newNumbers numbers a host's texts, which are in key order, and injected ones.
func newNumbers(host, injected []string, order Order) numbers {
	if order == Appended {
		return numbers{own: score.Numbers(0, len(host)), added: score.Numbers(len(host), len(injected))}
	}
	keys := make([]corpus.Key, len(injected))
	for i, text := range injected {
		keys[i] = corpus.KeyOf(text)
	}
	sorted := score.Numbers(0, len(injected))
	slices.SortFunc(sorted, func(a, b int32) int { return keys[a].Compare(keys[b]) })
	n := numbers{own: make([]int32, len(host)), added: make([]int32, len(injected)), order: make([]int32, len(injected))}
	next := 0
	for i, text := range host {
		for key := corpus.KeyOf(text); next < len(sorted) && keys[sorted[next]].Compare(key) < 0; next++ {
			n.added[sorted[next]] = int32(i + next)
		}
		n.own[i] = int32(i + next)
	}
	for ; next < len(sorted); next++ {
		n.added[sorted[next]] = int32(len(host) + next)
	}
	for place, i := range sorted {
		n.order[i] = int32(place)
	}
	return n
}
