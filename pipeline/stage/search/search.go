// Package search is the stage that searches a cell: a source shard and a target shard.
package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/approximate"
	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/index/ivf"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spill"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/encode"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// Stage is the descriptor. Merged neighbours hold all that a run needs of a cell.
var Stage = &stage.Descriptor{
	Name: view.Search, Version: 1, Unit: "comparisons", After: []string{view.Encode}, Wide: true, Sweepable: true,
}

func init() { // not in the declaration, as the functions refer to it
	Stage.Check, Stage.Uses, Stage.Run = check, uses, run
	// Chooser.Estimates has it, by backend
	Stage.Rate = func(context.Context, *stage.Env, []*plan.Task) (float64, error) { return 0, nil }
	stage.Register(Stage)
}

// args is a shard of either side of a pair.
type args struct {
	Pair   int    `json:"pair"`
	Shards [2]int `json:"shards"` // source, target
}

// spec lists all inputs of a cell's neighbours. The keys of encoding tasks stand for the embeddings' digests: they are
// derived from the digests of everything that an embedding is made from.
type spec struct {
	Source, Target string // keys of the encoding tasks
	Search         string // setting.Searching.SearchKey
	K              int
}

// Key is the key of a cell, given its shards' Vectors.
func Key(s plan.Settings, source, target string) string {
	return Stage.Key(spec{source, target, s.SearchKey(), s.K})
}

// Want asks for the search of a cell, seen from one of its sides, and returns its key.
func Want(b *stage.Builder, pair, side, own, other int) string {
	a := args{Pair: pair, Shards: [2]int{own, other}}
	if side == 1 {
		a.Shards = [2]int{other, own}
	}
	source, target := encode.Want(b, b.LanguageOf(pair, 0), a.Shards[0]), encode.Want(b, b.LanguageOf(pair, 1), a.Shards[1])
	k := Key(b.Settings, source, target)
	if !b.Has(Stage, k) {
		shape := a.shape(b.Plan)
		b.Add(Stage, k, int64(shape.Rows)*int64(shape.Cols), cost(b, a), a)
	}
	return k
}

// shape is the number of rows of both sides.
func (a args) shape(p *plan.Plan) backend.Shape {
	return backend.Shape{Rows: p.Side(a.Pair, 0).Shards[a.Shards[0]].Rows, Cols: p.Side(a.Pair, 1).Shards[a.Shards[1]].Rows}
}

// cost is, in memory, an upper bound that was measured: what the backend says, and the process. What inverted lists
// have of each row beside that is in temporary files, and a shard's lists are kept with its first cell.
func cost(b *stage.Builder, a args) stage.Cost {
	shape := a.shape(b.Plan)
	name := searchedBy(b.Plan, shape)
	rows, k, dim := int64(shape.Rows+shape.Cols), int64(b.Settings.K), int64(b.Settings.Dim)
	vector := dim*embedding.DType(b.Settings.DType).Size() + stage.KeyBytes
	opts := setting.SearchOptions(b.Settings.Searching, setting.Resources{Threads: b.Threads})
	memory := backend.Memory(name, shape, b.Settings.Dim, b.Settings.K, opts)
	c := stage.Cost{Fixed: 128 << 20, Memory: memory, Expected: memory, Disk: rows * k * 8, Read: rows * vector}
	if !strings.HasPrefix(name, ivf.Prefix) {
		c.Memory += rows * (24 + 16*k)
		c.Expected += rows * 32
		if name == exact.Name { // threads do not fill their blocks
			c.Expected = memory*4/5 + rows*32
		}
		return c
	}
	c.Scratch = stage.Spilled(rows * int64(ivf.ListBytes(b.Settings.K)))
	for side, n := range []int{shape.Rows, shape.Cols} {
		if a.Shards[1-side] == 0 {
			c.Disk += int64(n)*8 + int64(backend.MinRows(name))*dim*4
		}
	}
	return c
}

func check(p *plan.Plan, t *plan.Task) error {
	if err := stage.CheckPair(p, t); err != nil {
		return err
	}
	a, err := stage.Args[args](t)
	for side := range a.Shards {
		if err == nil {
			err = stage.Within("shard", a.Shards[side], len(p.Side(a.Pair, side).Shards))
		}
	}
	return err
}

// uses names every cell of every pair: a run after text was withdrawn merges them anew.
func uses(p *plan.Plan, use func(string)) {
	for pair := range p.Pairs {
		for _, source := range p.Side(pair, 0).Shards {
			for _, target := range p.Side(pair, 1).Shards {
				use(Key(p.Settings, source.Vector, target.Vector))
			}
		}
	}
}

// run writes the neighbours of one cell.
func run(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (_ any, err error) {
	a, err := stage.Args[args](t)
	if err != nil {
		return nil, err
	}
	var sides [2]index.Side
	var shards [2]*plan.Shard
	for side := range sides {
		shards[side] = &e.Plan.Side(a.Pair, side).Shards[a.Shards[side]]
		file, failure := e.Vectors(ctx, shards[side])
		if failure != nil {
			return nil, failure
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		sides[side].Vectors, sides[side].Digest = file.Matrix, file.SHA256
		if sides[side].Order, err = order(ctx, e, shards[side], dir); err != nil {
			return nil, err
		}
	}
	searcher, err := Open(e, searchedBy(e.Plan, a.shape(e.Plan)))
	if err != nil {
		return nil, err
	}
	result, err := searcher.Search(ctx, sides[0], sides[1], e.Plan.Settings.K, stepsOf(t.Items, meter))
	if err != nil {
		return nil, fmt.Errorf("search %s x %s: %w", shards[0].Name, shards[1].Name, err)
	}
	defer func() { err = errors.Join(err, result.Close()) }()
	if result.Source.Len() != shards[0].Rows || result.Target.Len() != shards[1].Rows {
		return nil, fmt.Errorf("search %s x %s gave lists of %d and %d rows instead of %d and %d",
			shards[0].Name, shards[1].Name, result.Source.Len(), result.Target.Len(), shards[0].Rows, shards[1].Rows)
	}
	var found view.Recall
	if r := result.Recall; r.SourceRows+r.TargetRows > 0 {
		found = view.Measured(t.Items, r.Source, r.Target)
	}
	return found, atomicfile.Write(filepath.Join(dir, view.CellFile), func(f *os.File) error { return index.WriteCell(f, result.Source, result.Target) })
}

// IndexesName is where approximate indexes are kept in a store: they can be made again.
const IndexesName = "indexes"

// searchedBy names what searches a cell: the plan's backend, or exact search where the cell is compared whole.
func searchedBy(p *plan.Plan, cell backend.Shape) string {
	if name := p.Searcher(); !backend.Whole(name, cell, p.Settings.NProbe) {
		return name
	}
	return exact.Name
}

// Open opens a backend once for all tasks of a process. Its index files are kept beside the store's outputs.
func Open(e *stage.Env, name string) (index.Searcher, error) {
	return stage.Shared(e, "search "+name, func() (index.Searcher, func() error, error) {
		opts := setting.SearchOptions(e.Plan.Settings.Searching, e.Resources)
		if backend.Exact(name) {
			opts.Approximate = approximate.Settings{} // the settings are of an approximate search, which this is not
		} else {
			opts.Approximate.Dir = e.Store.Local(IndexesName)
			if err := os.MkdirAll(opts.Approximate.Dir, 0o777); err != nil {
				return nil, nil, fmt.Errorf("make the directory of index files: %w", err)
			}
		}
		searcher, err := backend.Open(name, opts)
		return searcher, nil, err
	})
}

// order returns each row's place in the order of the shard's sentence keys, once for all cells of the shard. If they
// are many they are in a file of a folder, without a name, so that they stay when the folder is published.
func order(ctx context.Context, e *stage.Env, s *plan.Shard, dir string) ([]int32, error) {
	return stage.Shared(e, "order "+s.SHA256, func() ([]int32, func() error, error) {
		keys, err := e.Keys(ctx, s)
		if err != nil {
			return nil, nil, err
		}
		room := &spill.Arena{Space: spill.In(dir)}
		order, err := spill.Make[int32](room, len(keys))
		if err == nil {
			view.KeyOrder(keys, order)
		}
		return order, room.Close, err
	})
}

// stepsOf turns a searcher's fraction into steps of a meter.
func stepsOf(items int64, meter progress.Meter) func(float64) {
	var shown atomic.Int64
	return func(fraction float64) {
		now := int64(fraction * float64(items))
		if before := shown.Swap(now); now > before {
			meter.Add(now - before)
		}
	}
}

// kept begins the reason of a choice that an earlier run made.
const kept = "auto keeps to its choice of an earlier run, as another would change the results: "

// ReadChoice returns what auto chose in a store, under the name of NoteOf, or else the choice of the run whose output
// is in the output directory; nil without either.
func ReadChoice(ctx context.Context, st *store.Store, name string, previous *record.SearchReport) (*Choice, error) {
	choice := &Choice{}
	data, err := st.ReadNote(ctx, record.ChosenNote, name)
	switch {
	case err == nil:
		if err := json.Unmarshal(data, choice); err != nil {
			return nil, badinput.Errorf("the note %s/%s of what search = auto chose is damaged (%w); remove it, or name the search",
				record.ChosenNote, name, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	case previous != nil && previous.Result != "":
		choice = &Choice{Result: previous.Result, Backend: previous.Backend, Why: previous.Why}
	default:
		return nil, nil
	}
	if !strings.HasPrefix(choice.Why, kept) {
		choice.Why = kept + choice.Why
	}
	return choice, nil
}

// WriteChoice stores what auto chose, for later runs.
func WriteChoice(ctx context.Context, st *store.Store, name string, choice Choice) error {
	data, err := json.Marshal(choice)
	if err != nil {
		return err
	}
	return st.WriteNote(ctx, record.ChosenNote, name, data)
}
