package plan

import (
	"fmt"
	"path/filepath"
	"slices"

	"bitextmine/corpus"
)

// Sharding plans the cutting of every input into shards. Inputs of the same bytes and name are one task.
func Sharding(version string, settings Settings, sides [2]Side) *Plan {
	p := &Plan{Version: version, Settings: settings, Sides: sides}
	wave := Wave{Stage: Shard}
	seen := map[string]bool{}
	for s, side := range sides {
		for i, in := range side.Inputs {
			k := ShardKey(in, settings)
			if !seen[k] {
				seen[k] = true
				wave.Tasks = append(wave.Tasks, Task{Stage: Shard, Key: k, Items: in.Bytes, Memory: shardMemory(settings), Side: s, Input: i})
			}
		}
	}
	p.Waves = []Wave{wave}
	return p
}

// ShardKey is the key of an input's sharding task.
func ShardKey(in Input, settings Settings) string {
	return key(Shard, shardVersion, shardSpec{in.SHA256, filepath.Base(in.Path), corpus.NormaliseVersion, settings.Corpus})
}

// Named gives the shards that an input was cut into their names and places.
func Named(in Input, task string, found []corpus.Shard) []ShardFile {
	shards := make([]ShardFile, len(found))
	for n, one := range found {
		shards[n] = ShardFile{Name: fmt.Sprintf("%s#%d", in.Path, n), Task: task, File: one.File, SHA256: one.SHA256, Rows: one.Rows}
	}
	return shards
}

// builder collects the tasks of the waves after sharding, each key once.
type builder struct {
	*Plan
	seen map[string]bool
}

// Mining plans everything after sharding. It sets each shard's Vector.
func Mining(version string, settings Settings, sides [2]Side, ledger *Ledger) *Plan {
	b := builder{&Plan{Version: version, Settings: settings, Sides: sides}, map[string]bool{}}
	encode, search, merge := Wave{Stage: Encode}, Wave{Stage: Search}, Wave{Stage: Merge}
	for s := range b.Sides {
		b.encodings(&encode, s)
	}
	var merges [2][]Ref
	for s := range b.Sides {
		merges[s] = b.merges(&merge, s, ledger)
	}
	b.cells(&search, &merge)
	match := Wave{Stage: Match, Tasks: []Task{b.match(merges)}}
	b.Waves = []Wave{encode, search, merge, match}
	return b.Plan
}

// add appends a task unless an equal one is there.
func (b *builder) add(wave *Wave, t Task) {
	if !b.seen[t.Key] {
		b.seen[t.Key] = true
		wave.Tasks = append(wave.Tasks, t)
	}
}

func (b *builder) encodings(wave *Wave, side int) {
	for i := range b.Sides[side].Shards {
		shard := &b.Sides[side].Shards[i]
		shard.Vector = key(Encode, encodeVersion, encodeSpec{shard.SHA256, b.Settings.Encoder, b.Sides[side].Language, b.Settings.DType})
		b.add(wave, Task{
			Stage: Encode, Key: shard.Vector, Items: int64(shard.Rows), Memory: encodeMemory(b.Settings), Side: side, Shards: [2]int{i},
		})
	}
}

// merges adds one merge for each shard of a side and returns their keys. Its base is what the ledger knows of the
// shard, if every shard that it covers is still in the run.
func (b *builder) merges(wave *Wave, side int, ledger *Ledger) []Ref {
	other := &b.Sides[1-side]
	cover := CoverOf(other.Shards)
	places := map[string]int{} // a shard may stand in two files: its first place will do
	for i := len(other.Shards) - 1; i >= 0; i-- {
		places[other.Shards[i].Vector] = i
	}
	keys := make([]Ref, len(b.Sides[side].Shards))
	for i, shard := range b.Sides[side].Shards {
		t := Task{
			Stage: Merge, Items: int64(shard.Rows), Side: side, Shards: [2]int{i}, Memory: mergeMemory(b.Settings, shard.Rows, other.Rows()),
			Key: key(Merge, mergeVersion, mergeSpec{shard.Vector, b.Sides[side].Name, cover, b.Settings.SearchKey(), b.Settings.K}),
		}
		keys[i] = t.Key
		missing := cover
		if base, covered := ledger.base(side, shard.Vector, cover); base != "" {
			t.Base = &Base{base, b.cover(covered)}
			missing = cover.without(covered)
		}
		for _, vector := range missing {
			t.Cells = append(t.Cells, CellRef{b.cellKey(side, shard.Vector, vector), places[vector]})
		}
		b.add(wave, t)
	}
	return keys
}

// cover returns a cover's place in the plan, adding it if it is new.
func (b *builder) cover(c Cover) int {
	if at := slices.IndexFunc(b.Covers, func(known Cover) bool { return slices.Equal(known, c) }); at >= 0 {
		return at
	}
	b.Covers = append(b.Covers, c)
	return len(b.Covers) - 1
}

func (b *builder) cellKey(side int, own, other string) string {
	if side == 1 {
		own, other = other, own
	}
	return CellKey(b.Settings, own, other)
}

// CellKey is the key of the search of a cell, given its shards' Vectors.
func CellKey(settings Settings, source, target string) string {
	return key(Search, searchVersion, searchSpec{source, target, settings.SearchKey(), settings.K})
}

// cells adds the search of every cell that a merge needs.
func (b *builder) cells(search, merge *Wave) {
	for _, t := range merge.Tasks {
		for _, cell := range t.Cells {
			at := [2]int{t.Shards[0], cell.Other}
			if t.Side == 1 {
				at[0], at[1] = at[1], at[0]
			}
			rows := [2]int{b.Sides[0].Shards[at[0]].Rows, b.Sides[1].Shards[at[1]].Rows}
			b.add(search, Task{
				Stage: Search, Key: cell.Key, Items: int64(rows[0]) * int64(rows[1]), Memory: searchMemory(b.Settings, rows), Shards: at,
			})
		}
	}
}

func (b *builder) match(merges [2][]Ref) Task {
	spec := matchSpec{Version: b.Version, Settings: b.Settings}
	for s, side := range b.Sides {
		m := matchSide{Language: side.Language}
		for _, in := range side.Inputs {
			m.Inputs = append(m.Inputs, [2]string{in.Path, in.SHA256})
		}
		for i, shard := range side.Shards {
			m.Shards = append(m.Shards, [3]string{shard.Name, shard.SHA256, merges[s][i]})
		}
		spec.Sides[s] = m
	}
	rows := [2]int{b.Sides[0].Rows(), b.Sides[1].Rows()}
	return Task{
		Stage: Match, Key: key(Match, matchVersion, spec), Items: int64(rows[0] + rows[1]), Memory: matchMemory(b.Settings, rows), Merges: merges,
	}
}
