// Package merge is the stage that joins a shard's neighbours of every cell into its neighbours over the whole other
// language.
package merge

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"bitextmine/index"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/spill"
	"bitextmine/internal/usage"
	"bitextmine/mine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/encode"
	"bitextmine/pipeline/stage/search"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// Stage is the descriptor.
var Stage = &stage.Descriptor{Name: view.Merge, Version: 1, Unit: "sentences", After: []string{view.Search}}

func init() { // not in the declaration, as the functions refer to it
	Stage.Plan, Stage.Ledger, Stage.Check, Stage.Uses, Stage.Run = planPairs, ledger{}, check, uses, run
	stage.Register(Stage)
}

// args is a shard of one side of a pair, and where its neighbours come from.
type args struct {
	Pair  int    `json:"pair"`
	Side  int    `json:"side"` // 0 source, 1 target
	Shard int    `json:"shard"`
	Base  *base  `json:"base,omitempty"`
	Cells []cell `json:"cells,omitempty"` // that its base has not seen
}

// base is merged neighbours of the shard to start from.
type base struct {
	Key string `json:"key"`
	Set int    `json:"set"` // the shards that it has seen: a place among the plan's shard sets
}

// cell is a cell seen from one of its shards.
type cell struct {
	Key   string `json:"key"`
	Other int    `json:"other"` // the other side's shard
}

// spec lists all that a shard's neighbours over a shard set depend on. The base that they were made from is not
// among it.
type spec struct {
	Shard  string // key of its encoding task
	Side   string // which of a cell's two lists are its own
	Cover  plan.ShardSet
	Search string
	K      int
}

// planPairs asks for the merged neighbours of every pair.
func planPairs(b *stage.Builder) error {
	for pair := range b.Pairs {
		Want(b, pair)
	}
	return nil
}

// Want asks for the merged neighbours of every shard of a pair and sets the pair's Merges.
func Want(b *stage.Builder, pair int) {
	for side := range b.Pairs[pair].Merges {
		language := b.LanguageOf(pair, side)
		for shard := range b.Languages[language].Shards {
			encode.Want(b, language, shard)
		}
	}
	for side := range b.Pairs[pair].Merges {
		b.Pairs[pair].Merges[side] = want(b, pair, side)
	}
}

// want asks for the merged neighbours of every shard of a side and returns their keys. The base of a
// shard comes from the ledger, if every shard that it has seen is still in the run.
func want(b *stage.Builder, pair, side int) []string {
	own, other := b.Side(pair, side), b.Side(pair, 1-side)
	set := plan.SetOf(other.Shards)
	places := map[string]int{} // a shard may stand in two files: its first place will do
	for i := len(other.Shards) - 1; i >= 0; i-- {
		places[other.Shards[i].Vector] = i
	}
	keys := make([]string, len(own.Shards))
	for i, shard := range own.Shards {
		keys[i] = Stage.Key(spec{shard.Vector, plan.SideNames[side], set, b.Settings.SearchKey(), b.Settings.K})
		if b.Has(Stage, keys[i]) {
			continue
		}
		a := args{Pair: pair, Side: side, Shard: i}
		missing := set
		if key, seen := stage.Before[plan.Ledger](b, Stage, pair).Base(side, shard.Vector, set); key != "" {
			a.Base = &base{key, b.AddShardSet(seen)}
			missing = set.Without(seen)
		}
		for _, vector := range missing {
			a.Cells = append(a.Cells, cell{search.Want(b, pair, side, i, places[vector]), places[vector]})
		}
		b.Add(Stage, keys[i], int64(shard.Rows), cost(b, own, other, a), a)
	}
	return keys
}

// numbered is how many rows are sorted at a time while sentences are numbered.
const numbered = 512 << 10

// cost is, in memory, an upper bound that was measured: the keys of a shard of the other side while that is numbered,
// and the shard's lists of two cells. It reads both sides' lists of a cell. The expected memory is twice what is live;
// the numbers of sentences and their making are shared by the tasks that run at once.
func cost(b *stage.Builder, own, other *plan.Language, a args) stage.Cost {
	rows, k, others := int64(own.Shards[a.Shard].Rows), int64(b.Settings.K), int64(other.Rows())
	largest, n := int64(other.LargestShard()), max(others, int64(own.Rows()))
	atOnce := int64(max(min(b.Threads, len(own.Shards)+len(other.Shards)), 1))
	shared := 72*min(n, numbered) + 3*(stage.Held(8*n)+2*stage.Held(4*n)) + 24*largest
	lists := rows * k * 8
	c := stage.Cost{
		Fixed:    128 << 20,
		Memory:   32*largest + 2*lists,
		Expected: (12<<20+shared*4/3)/atOnce + 4*stage.Held(lists/2),
		Disk:     lists, Scratch: 2 * stage.Spilled(lists/2), Read: others * stage.KeyBytes,
	}
	if a.Base != nil {
		c.Read += c.Disk
	}
	for _, cell := range a.Cells {
		c.Read += (rows + int64(other.Shards[cell.Other].Rows)) * k * 8
	}
	return c
}

func check(p *plan.Plan, t *plan.Task) error {
	if err := stage.CheckPairShard(p, t); err != nil {
		return err
	}
	a, err := stage.Args[args](t)
	if err != nil {
		return err
	}
	if a.Base != nil {
		if err := stage.Within("shard set", a.Base.Set, len(p.ShardSets)); err != nil {
			return err
		}
	}
	for _, c := range a.Cells {
		if err := stage.Within("shard", c.Other, len(p.Side(a.Pair, 1-a.Side).Shards)); err != nil {
			return err
		}
	}
	return nil
}

// bases calls each with the base of every merge of a plan, its pair, its side and its shard's Vector.
func bases(p *plan.Plan, each func(key string, pair, side int, vector string)) {
	stage.EachArgs(p, Stage.Name, func(_ *plan.Task, a args) {
		if a.Base != nil {
			each(a.Base.Key, a.Pair, a.Side, p.Side(a.Pair, a.Side).Shards[a.Shard].Vector)
		}
	})
}

func uses(p *plan.Plan, use func(key string)) {
	bases(p, func(key string, _, _ int, _ string) { use(key) })
}

// run joins a shard's base and new cells. The file's bytes depend on the shard and the shard set alone, not on the
// base.
func run(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (_ any, err error) {
	a, err := stage.Args[args](t)
	if err != nil {
		return nil, err
	}
	defer usage.SteadyHeap()()
	rows := e.Plan.Side(a.Pair, a.Side).Shards[a.Shard].Rows
	others := e.Plan.Side(a.Pair, 1-a.Side).Shards
	otherLanguage := e.Plan.LanguageOf(a.Pair, 1-a.Side)
	partners, err := e.Sentences(otherLanguage)
	if err != nil {
		return nil, err
	}
	var found view.Recall
	room := &spill.Arena{Space: spill.In(dir)}
	defer func() { err = errors.Join(err, room.Close()) }()
	merger, err := mine.NewMergerIn(room, rows, e.Plan.Settings.K)
	if err != nil {
		return nil, err
	}
	if a.Base != nil {
		seen, err := e.EndToEnd(otherLanguage, a.Base.Set)
		if err != nil {
			return nil, err
		}
		lists, out, err := e.Lists(ctx, a.Base.Key, rows, len(seen))
		if err == nil {
			err = found.Add(out, a.Side, int64(rows)*int64(len(seen)))
		}
		if err != nil {
			return nil, err
		}
		merger.AddAll(lists, seen)
	}
	for _, c := range a.Cells {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		lists, out, err := e.Cell(ctx, c.Key, a.Side, rows, others[c.Other].Rows)
		if err == nil {
			err = found.Add(out, a.Side, int64(rows)*int64(others[c.Other].Rows))
		}
		if err != nil {
			return nil, err
		}
		merger.AddAll(lists, partners.Rows[c.Other])
	}
	merged := merger.Neighbours()
	for i, number := range merged.IDs {
		if number != mine.None {
			merged.IDs[i] = partners.InSet[number]
		}
	}
	meter.Add(t.Items)
	return found, atomicfile.Write(filepath.Join(dir, view.ListsFile), func(f *os.File) error {
		return index.WriteList(f, merged, plan.SetOf(others).Rows(others))
	})
}

// ledger names the merged neighbours of every shard and the shards that they have seen, as [plan.Ledger].
type ledger struct{}

// noteName names the runs whose merges differ in nothing but shards.
func noteName(p *plan.Plan, pair int) string {
	return plan.Family(p.Settings, p.Side(pair, 0).Code, p.Side(pair, 1).Code) + ".json"
}

// Read implements [stage.Ledger]. It leaves out the merged neighbours that a plan would start from and that are missing
// or damaged.
func (ledger) Read(ctx context.Context, st *store.Store, r stage.Request, log *slog.Logger) (any, error) {
	left, err := stage.ReadPairs[plan.Ledger](
		ctx, st, r, log, noteName, "the ledger of merged neighbours is damaged; every cell is read again")
	if err != nil {
		return nil, err
	}
	r.Earlier = map[string]any{Stage.Name: left}
	r.Goal = planPairs
	trial, err := stage.Build(r)
	if err != nil {
		return nil, err
	}
	bases(trial, func(key string, pair, side int, vector string) {
		if _, damage := st.Get(ctx, store.Task{Stage: Stage.Name, Key: key}); damage != nil && ctx.Err() == nil {
			log.Warn("merged neighbours are missing or damaged; their cells are read again", "key", key, "damage", damage)
			delete(left[pair].Sides[side], vector)
		}
	})
	return left, ctx.Err()
}

// Write implements [stage.Ledger].
func (ledger) Write(ctx context.Context, st *store.Store, p *plan.Plan) error {
	for pair := range p.Pairs {
		if err := record.WriteLedger(ctx, st, noteName(p, pair), plan.NewLedger(p, pair)); err != nil {
			return err
		}
	}
	return nil
}
