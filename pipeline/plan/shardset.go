package plan

import (
	"maps"
	"slices"
)

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
