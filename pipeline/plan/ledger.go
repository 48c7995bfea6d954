package plan

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"bitextmine/internal/badinput"
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

// Cost is the resources that the remaining tasks of a plan need.
type Cost struct {
	Languages []LanguageCost `json:"languages"`
	Stages    []StageCost    `json:"stages"`
	Memory    int64          `json:"memory_bytes"` // the largest task's memory
	Stage     string         `json:"memory_stage"` // that task's stage
	Disk      int64          `json:"disk_bytes"`   // size of the outputs to write
}

// LanguageCost is the size of a language's text.
type LanguageCost struct {
	Code      string `json:"code"`
	Sentences int    `json:"sentences"` // distinct within each shard
	Shards    int    `json:"shards"`
}

// StageCost is the tasks of a stage.
type StageCost struct {
	Name  string `json:"stage"`
	Unit  string `json:"unit"`
	Tasks int    `json:"tasks"`
	Done  int    `json:"done"`
	Items int64  `json:"items"` // items to do, in Unit
	// Rate is the items that this machine does in a second, as it was measured or assumed; 0: not known.
	Rate float64 `json:"items_per_second"`
}

// CostOf adds up a plan; done says which tasks have their output.
func CostOf(p *Plan, done func(stage, key string) bool) Cost {
	var c Cost
	for i := range p.Languages {
		l := &p.Languages[i]
		c.Languages = append(c.Languages, LanguageCost{l.Code, l.Rows(), len(l.Shards)})
	}
	for _, wave := range p.Waves {
		s := StageCost{Name: wave.Stage, Unit: wave.Unit, Tasks: len(wave.Tasks)}
		for _, t := range wave.Tasks {
			if done(t.Stage, t.Key) {
				s.Done++
				continue
			}
			s.Items += t.Items
			c.Disk += t.Disk
			if t.Memory > c.Memory {
				c.Memory, c.Stage = t.Memory, t.Stage
			}
		}
		c.Stages = append(c.Stages, s)
	}
	return c
}

// Time estimates how long the tasks take one after another, by their stages' rates. Stages without a rate are left out.
func (c Cost) Time() time.Duration {
	seconds := 0.0
	for _, s := range c.Stages {
		if s.Rate > 0 {
			seconds += float64(s.Items) / s.Rate
		}
	}
	return time.Duration(seconds * float64(time.Second))
}

// Bounds limit the resources of a run, in bytes; 0: no bound.
type Bounds struct {
	MaxMemory int64 // the setting max_memory
	Memory    int64 // the machine's memory
	Disk      int64 // free
}

// Fits refuses what cannot be done within bounds, naming the setting that would help.
func (c Cost) Fits(b Bounds) error {
	const help = "lower --shard-size, or give less text"
	switch {
	case b.MaxMemory > 0 && c.Memory > b.MaxMemory:
		return badinput.Errorf("a %s task needs %s of memory, more than max_memory = %s; raise --max-memory, %s", c.Stage, Bytes(c.Memory), Bytes(b.MaxMemory), help)
	case b.Memory > 0 && c.Memory > b.Memory:
		return badinput.Errorf("a %s task needs %s of memory, and this machine has %s; %s, or use a larger machine", c.Stage, Bytes(c.Memory), Bytes(b.Memory), help)
	case b.Disk > 0 && c.Disk > b.Disk:
		return badinput.Errorf("the run would write %s, but the work directory's disk has %s free; free some, or name a directory on another disk with --work",
			Bytes(c.Disk), Bytes(b.Disk))
	}
	return nil
}

// Bytes shows a size.
func Bytes(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= unit.size {
			return fmt.Sprintf("%.1f %s", float64(n)/float64(unit.size), unit.name)
		}
	}
	return fmt.Sprintf("%d B", n)
}
