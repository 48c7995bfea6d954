package plan

import (
	"maps"
	"slices"
)

// Ledger lists the outputs that a run leaves for the next: the merged neighbours of every shard, and the shard sets
// that they have seen. It is a hint: without it a run only computes more.
type Ledger struct {
	ShardSets []ShardSet           `json:"shard_sets"`
	Sides     [2]map[string]Merged `json:"sides"` // keys are Vectors
}

// Merged is a shard's merged neighbours.
type Merged struct {
	Key      string `json:"key"`
	ShardSet int    `json:"shard_set"` // place among the ledger's shard sets
}

// familyVersion is the version of the merged neighbours that a ledger names.
const familyVersion = 1

// Family names the runs that share a ledger: those whose merges differ in nothing but shards.
func Family(settings Settings, source, target string) string {
	return Key("ledger", familyVersion, []any{settings.Encoder, settings.DType, settings.SearchKey(), settings.K, source, target})
}

// NewLedger returns the ledger that a plan leaves of a pair once its merges are done.
func NewLedger(p *Plan, pair int) *Ledger {
	l := &Ledger{}
	for side := range p.Pairs[pair].Merges {
		l.ShardSets = append(l.ShardSets, SetOf(p.Side(pair, 1-side).Shards))
		l.Sides[side] = map[string]Merged{}
		for i, shard := range p.Side(pair, side).Shards {
			l.Sides[side][shard.Vector] = Merged{p.Pairs[pair].Merges[side][i], side}
		}
	}
	return l
}

// Base returns the key of a shard's merged neighbours and what they have seen, if that is inside wanted; otherwise an
// empty key.
func (l *Ledger) Base(side int, vector string, wanted ShardSet) (string, ShardSet) {
	if l == nil {
		return "", nil
	}
	m, ok := l.Sides[side][vector]
	if !ok || m.ShardSet < 0 || m.ShardSet >= len(l.ShardSets) {
		return "", nil
	}
	seen := l.ShardSets[m.ShardSet]
	if len(seen.Without(wanted)) > 0 {
		return "", nil
	}
	return m.Key, seen
}

// ShardSet is a set of shards by their Vector, ascending.
type ShardSet []string

// SetOf is the set of all the shards.
func SetOf(shards []Shard) ShardSet {
	set := map[string]bool{}
	for _, s := range shards {
		set[s.Vector] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// Without returns the members of s that are not in other.
func (s ShardSet) Without(other ShardSet) ShardSet {
	var rest ShardSet
	for _, v := range s {
		if _, found := slices.BinarySearch(other, v); !found {
			rest = append(rest, v)
		}
	}
	return rest
}

// Rows is the number of rows of the set's shards, which are among shards: a shard that stands in two files counts once.
func (s ShardSet) Rows(shards []Shard) int {
	rows := map[string]int{}
	for _, shard := range shards {
		rows[shard.Vector] = shard.Rows
	}
	n := 0
	for _, v := range s {
		n += rows[v]
	}
	return n
}

// AddShardSet returns the place of a shard set in the plan, adding it if it is new.
func (p *Plan) AddShardSet(s ShardSet) int {
	if at := slices.IndexFunc(p.ShardSets, func(known ShardSet) bool { return slices.Equal(known, s) }); at >= 0 {
		return at
	}
	p.ShardSets = append(p.ShardSets, s)
	return len(p.ShardSets) - 1
}
