// Package shortlist is the stage that says which sentences two-stage mining encodes again: those of candidates that a
// scorer takes for possible translations or, without one, whose static margin is above the floor.
//
// It stands before refine because which sentences those are is only known from the neighbours of both sides and the
// features of all candidates, while a plan is made before they are there. The plan names one shortlist for a pair and,
// for every shard, one refine task that takes its rows from there; so all tasks and keys are known from the start, a
// shard without such rows has an empty task, and shards are refined side by side on whatever machines there are.
package shortlist

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"slices"

	"bitextmine/internal/spill"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/merge"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// Stage is the descriptor.
var Stage = &stage.Descriptor{
	Name: view.Shortlisting, Version: 4, Unit: "sentences", After: []string{view.Merge, view.Features}, Wide: true, OnDemand: true,
}

func init() { // not in the declaration, as the functions refer to it
	Stage.Check, Stage.Run = stage.CheckPair, run
	stage.Register(Stage)
}

// args is a pair.
type args struct {
	Pair int `json:"pair"`
}

// spec lists all that the rows depend on.
type spec struct {
	Merges     [2][]string
	Margin     string
	K          int    // number of neighbours that count
	Retrieval  string // empty: a scorer decides, and its candidates count
	Floor      float64
	KeepCopies bool      `json:",omitempty"` // untranslated text is a candidate
	Possible   *possible `json:",omitempty"` // nil: the margin says which candidates are promising
}

// possible lists all that the candidates depend on that may be translations by a scorer.
type possible struct {
	Features  []string
	Languages [2]string
	Scorer    string // digest
	Doubt     float64
	decide.Way
}

// Want asks for the shortlist of a pair, sets the pair's Shortlist and returns it.
func Want(b *stage.Builder, pair int) (string, error) {
	merge.Want(b, pair)
	scorer, err := b.DecodedScorer()
	if err != nil {
		return "", err
	}
	s := b.Settings
	of := spec{Merges: b.Pairs[pair].Merges, Margin: s.Margin, K: s.K, Retrieval: s.Retrieval, Floor: s.RefineFloor, KeepCopies: s.KeepCopies}
	if s.Scored() {
		of.K, of.Retrieval = scorer.K, ""
	}
	if s.RefineDoubt > 0 {
		of.Possible = &possible{b.Pairs[pair].Features, [2]string{b.Side(pair, 0).Code, b.Side(pair, 1).Code}, s.Scorer, s.RefineDoubt, decide.WayOf(scorer, b.Plan, pair, b.Listed)}
	}
	key := Stage.Key(of)
	sentences := [2]int{b.Side(pair, 0).Rows(), b.Side(pair, 1).Rows()}
	b.Add(Stage, key, int64(sentences[0]+sentences[1]), cost(s, sentences), args{pair})
	b.Pairs[pair].Shortlist = key
	return key, nil
}

// cost is, in memory, as matching: both sides' keys and lists, and the candidates. By a scorer it is
// that of scoring them.
func cost(s plan.Settings, sentences [2]int) stage.Cost {
	n := int64(sentences[0] + sentences[1])
	if s.RefineDoubt > 0 {
		return stage.Scoring(n)
	}
	return stage.Cost{Fixed: 64 << 20, Memory: n * (110 + 8*int64(s.K)), Disk: n, Read: n * (stage.KeyBytes + 8*int64(s.K))}
}

// Info is a task's record of its shortlist.
type Info struct {
	Rows [2][]int `json:"rows"` // how many, by side and shard
}

// Sentences is the number of sentences on the list.
func (i *Info) Sentences() int {
	n := 0
	for _, side := range i.Rows {
		for _, rows := range side {
			n += rows
		}
	}
	return n
}

// ReadInfo reads the record of a pair's shortlist; ok is false if it is not there.
func ReadInfo(ctx context.Context, st *store.Store, p *plan.Plan, pair int) (info *Info, ok bool) {
	out, err := st.Stat(ctx, store.Task{Stage: Stage.Name, Key: p.Pairs[pair].Shortlist})
	if err != nil {
		return nil, false
	}
	info = &Info{}
	return info, json.Unmarshal(out.Info, info) == nil
}

// Rows reads which rows of a shard are on the list of a pair.
func Rows(ctx context.Context, f *view.Files, pair, side, shard int) ([]uint32, error) {
	out, err := f.Output(ctx, Stage.Name, f.Plan.Pairs[pair].Shortlist)
	if err != nil {
		return nil, err
	}
	var bounds []int
	for side := range 2 {
		for _, s := range f.Plan.Side(pair, side).Shards {
			bounds = append(bounds, s.Rows)
		}
	}
	lists, err := view.ReadRows(out.Path(view.RowsFile), bounds...)
	if err != nil {
		return nil, err
	}
	return lists[side*len(f.Plan.Side(pair, 0).Shards)+shard], nil
}

// run writes the rows of the source's shards and then those of the target's.
func run(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (_ any, err error) {
	a, err := stage.Args[args](t)
	if err != nil {
		return nil, err
	}
	pair, err := e.Pair(a.Pair)
	if err != nil {
		return nil, err
	}
	pair.Space = spill.In(dir)
	defer func() { err = errors.Join(err, pair.Close()) }()
	list, err := decide.Shortlist(ctx, pair, e.Model, e.EncoderOptions())
	if err != nil {
		return nil, err
	}
	meter.Add(t.Items)
	info := &Info{}
	for side, shards := range list {
		info.Rows[side] = make([]int, len(shards))
		for i, of := range shards {
			info.Rows[side][i] = len(of)
		}
	}
	return info, view.WriteRows(filepath.Join(dir, view.RowsFile), slices.Concat(list[0], list[1]))
}
