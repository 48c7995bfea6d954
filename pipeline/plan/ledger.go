package plan

import (
	"maps"
	"slices"
)

// Ledger is what a run leaves for the next: the merged neighbours of every shard, and what they cover. It is a hint: without it
// a run only computes more.
type Ledger struct {
	Covers []Cover              `json:"covers"`
	Sides  [2]map[string]Merged `json:"sides"` // by Vector
}

// Merged is a shard's merged neighbours.
type Merged struct {
	Key   string `json:"key"`
	Cover int    `json:"cover"` // place among the covers
}

// Family names the runs that share a ledger: those whose merges differ in nothing but shards.
func Family(settings Settings, source, target string) string {
	return key("ledger", mergeVersion, []any{settings.Encoder, settings.DType, settings.SearchKey(), settings.K, source, target})
}

// LedgerOf returns the ledger that a run leaves once its merges are done.
func LedgerOf(p *Plan) *Ledger {
	l := &Ledger{}
	match := p.Waves[len(p.Waves)-1].Tasks[0]
	for s, side := range p.Sides {
		l.Covers = append(l.Covers, CoverOf(p.Sides[1-s].Shards))
		l.Sides[s] = map[string]Merged{}
		for i, shard := range side.Shards {
			l.Sides[s][shard.Vector] = Merged{match.Merges[s][i], s}
		}
	}
	return l
}

// base returns the shard's merged neighbours if their cover is inside wanted.
func (l *Ledger) base(side int, vector string, wanted Cover) (string, Cover) {
	if l == nil {
		return "", nil
	}
	m, ok := l.Sides[side][vector]
	if !ok || m.Cover < 0 || m.Cover >= len(l.Covers) {
		return "", nil
	}
	cover := l.Covers[m.Cover]
	if len(cover.without(wanted)) > 0 {
		return "", nil
	}
	return m.Key, cover
}

// CoverOf is the set of all the shards.
func CoverOf(shards []ShardFile) Cover {
	set := map[string]bool{}
	for _, s := range shards {
		set[s.Vector] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// without returns the members of c that are not in other; both are ascending.
func (c Cover) without(other Cover) Cover {
	var rest Cover
	for _, v := range c {
		if _, found := slices.BinarySearch(other, v); !found {
			rest = append(rest, v)
		}
	}
	return rest
}
