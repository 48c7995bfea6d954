// Package stage says what a stage is: a kind of task, described by one value and registered once.
//
// Each stage has a folder below this one. Plans, costs, keys, workers, engines, status and garbage collection go over
// the registered descriptors and name no stage, so adding one takes a folder and a registration:
//
//	shard   one input file            -> Parquet shards of unique sentences
//	encode  one shard                 -> embedding file
//	search  one cell (two shards)     -> both sides' neighbours
//	merge   one shard's cells         -> its neighbours over the other language
//	docmeans  the documents that begin in a shard -> their mean vectors (on demand)
//	docnearest  both sides' mean vectors -> candidates of pairs of documents (on demand)
//	doccompare  a source shard's candidates -> best cosines of their sentences (on demand)
//	pairdocs  the candidates with their cosines -> pairs of documents (on demand)
//	align     a source shard's documents and their partners -> beads (on demand)
//	describe  one shard -> its sentences as features see them (on demand)
//	features  a source shard's neighbours, both sides' descriptions -> candidates with their features (on demand)
//	shortlist  a pair's features, or neighbours -> the rows that two-stage mining encodes again (on demand)
//	refine  a shard's such rows   -> their vectors of the strong encoder (on demand)
//	judge   a pair's features, or neighbours, and such vectors -> a judge's logits of the candidates in doubt (on demand)
//	match   a pair's features, or neighbours, and what was asked for of the above -> the bitext file
//	fit     a pair, known pairs       -> examples that a scorer is fitted on (on demand)
//	calibrate  a pair, known pairs    -> what a margin threshold is estimated from (on demand)
package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// Descriptor is a stage: a kind of task, with one output for each key.
type Descriptor struct {
	Name    string
	Version int      // one more whenever the output changes for the same spec
	Unit    string   // what a task's Items count
	After   []string // the stages whose outputs it reads: it runs in a later wave than they do

	FromInputs bool // it works on input files; what it finds decides the plan of the other stages
	Wide       bool // one task uses every core
	GPU        bool // a cluster gives its tasks the GPUs that were asked for
	Sweepable  bool // later stages hold all that a run needs of its outputs, so gc may remove those of kept runs

	OnDemand bool // it is no part of every run: a request of its own, or another stage, asks for it

	// Plan asks for the tasks that every run has of this stage; nil: other stages or a request of its own ask for them.
	Plan func(*Builder) error
	// Ledger reads and writes what runs leave for later runs; nil: they leave nothing.
	Ledger Ledger
	// Check says what is wrong with a task of a stored plan.
	Check func(*plan.Plan, *plan.Task) error
	// Uses names the outputs of the stage that a plan needs beside those of its own tasks; nil: none.
	Uses func(p *plan.Plan, use func(key string))
	// Run makes a task's output: it writes files into dir and returns what to record beside them.
	Run func(ctx context.Context, e *Env, t *plan.Task, dir string, meter progress.Meter) (info any, err error)
	// Count is how many items a task has, where that depends on an earlier output; while that output is not there, it is
	// the estimate that the plan has. nil: as planned.
	Count func(ctx context.Context, f *view.Files, t *plan.Task) int64
	// Rate measures how many items this machine does in a second; nil: DefaultRate is assumed.
	Rate func(ctx context.Context, e *Env, left []*plan.Task) (float64, error)
}

// DefaultRate is the items a second of a stage that does little for each: merging handles about a million sentences.
const DefaultRate = 1e6

// registered has the stages by name.
var registered = map[string]*Descriptor{}

// Register adds a stage; it is called once for each, before any plan is made.
func Register(d *Descriptor) *Descriptor {
	if d.Name == "" || strings.ContainsAny(d.Name, "/- ") || d.Unit == "" || d.Run == nil || d.Check == nil || registered[d.Name] != nil {
		panic(fmt.Sprintf("stage %q is incomplete or registered twice", d.Name))
	}
	registered[d.Name] = d
	return d
}

// All returns the stages, each after those that it reads; of stages that could change places the first by name comes
// first.
func All() []*Descriptor {
	var order []*Descriptor
	placed := map[string]bool{}
	for len(order) < len(registered) {
		var next *Descriptor
		for _, d := range registered {
			ready := !placed[d.Name] && !slices.ContainsFunc(d.After, func(name string) bool { return !placed[name] })
			if ready && (next == nil || d.Name < next.Name) {
				next = d
			}
		}
		if next == nil {
			panic("the stages wait for each other, or for one that is not registered")
		}
		placed[next.Name] = true
		order = append(order, next)
	}
	return order
}

// Named returns a stage.
func Named(name string) (*Descriptor, error) {
	if d := registered[name]; d != nil {
		return d, nil
	}
	return nil, badinput.Errorf("no stage is called %q", name)
}

// Args decodes the arguments of a task.
func Args[A any](t *plan.Task) (A, error) {
	var args A
	if err := json.Unmarshal(t.Args, &args); err != nil {
		return args, fmt.Errorf("the arguments of task %s/%s: %w", t.Stage, t.Key, err)
	}
	return args, nil
}

// EachArgs calls each with the arguments of all tasks of a stage that a plan has. Decode has refused what they cannot
// be.
func EachArgs[A any](p *plan.Plan, name string, each func(t *plan.Task, args A)) {
	for _, w := range p.Waves {
		if w.Stage != name {
			continue
		}
		for i := range w.Tasks {
			if args, err := Args[A](&w.Tasks[i]); err == nil {
				each(&w.Tasks[i], args)
			}
		}
	}
}

// Decode reads a plan's file and checks that its tasks refer to what it holds. A program with another version of a
// stage would leave other outputs under the plan's keys: it refuses the plan, even if its own version is the same.
func Decode(data []byte, name, version string) (*plan.Plan, error) {
	p, err := plan.Decode(data, name, version)
	if err != nil {
		return nil, err
	}
	for _, w := range p.Waves {
		d, err := Named(w.Stage)
		if err != nil {
			return nil, plan.Malformed(name, err)
		}
		if w.Version != d.Version {
			return nil, badinput.Errorf("%s was made by another version of the program (its stage %s has version %d, here %d); make it again with this one",
				name, w.Stage, w.Version, d.Version)
		}
		for i := range w.Tasks {
			if err := d.Check(p, &w.Tasks[i]); err != nil {
				return nil, plan.Malformed(name, fmt.Errorf("task %d of wave %s: %w", i, w.Stage, err))
			}
		}
	}
	return p, nil
}

// CheckPair is the Check of a stage whose tasks name one of the plan's pairs, in an argument of that name.
func CheckPair(p *plan.Plan, t *plan.Task) error {
	a, err := Args[struct {
		Pair int `json:"pair"`
	}](t)
	if err == nil {
		err = Within("pair", a.Pair, len(p.Pairs))
	}
	return err
}

// CheckPairShard is the Check of a stage whose tasks name one of the plan's pairs, a side of it (the source if they do
// not say) and a shard of that side, in arguments of these names.
func CheckPairShard(p *plan.Plan, t *plan.Task) error {
	if err := CheckPair(p, t); err != nil {
		return err
	}
	a, err := Args[struct {
		Pair  int `json:"pair"`
		Side  int `json:"side"`
		Shard int `json:"shard"`
	}](t)
	if err == nil {
		err = Within("side", a.Side, 2)
	}
	if err == nil {
		err = Within("shard", a.Shard, len(p.Side(a.Pair, a.Side).Shards))
	}
	return err
}

// CheckShard is the Check of a stage whose tasks name one of the plan's languages and a shard of it, in arguments of
// these names.
func CheckShard(p *plan.Plan, t *plan.Task) error {
	a, err := Args[struct {
		Language int `json:"language"`
		Shard    int `json:"shard"`
	}](t)
	if err == nil {
		err = Within("language", a.Language, len(p.Languages))
	}
	if err == nil {
		err = Within("shard", a.Shard, len(p.Languages[a.Language].Shards))
	}
	return err
}

// UseBases is the Uses of a stage of a name whose tasks take over parts of earlier outputs of it, which an argument
// names as bases.
func UseBases(name string) func(p *plan.Plan, use func(key string)) {
	type args struct {
		Bases []string `json:"bases"`
	}
	return func(p *plan.Plan, use func(key string)) {
		EachArgs(p, name, func(_ *plan.Task, a args) {
			for _, base := range a.Bases {
				use(base)
			}
		})
	}
}

// TakeOver opens the outputs of bases, newest first. One that was swept is left out, and so is one that cannot be used,
// with a warning: instead says what happens then.
func TakeOver(ctx context.Context, e *Env, d *Descriptor, bases []string, instead string, open func(*store.Output) error) error {
	for _, base := range bases {
		out, err := e.Store.Get(ctx, store.Task{Stage: d.Name, Key: base})
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = open(out)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			e.Log.Warn("an earlier output cannot be used; "+instead, "stage", d.Name, "key", base, "reason", err)
		}
	}
	return nil
}

// Within is the check of a place in a list that a plan's task names.
func Within(what string, place, length int) error {
	if place < 0 || place >= length {
		return fmt.Errorf("it names %s %d of %d", what, place, length)
	}
	return nil
}

// Recount puts exact numbers of items in place of the estimates of tasks, as far as they are known.
func Recount(ctx context.Context, f *view.Files, tasks ...*plan.Task) {
	for _, t := range tasks {
		if d := registered[t.Stage]; d != nil && d.Count != nil {
			t.Items = d.Count(ctx, f, t)
		}
	}
}

// RecountWave is Recount of a wave's tasks.
func RecountWave(ctx context.Context, f *view.Files, w *plan.Wave) {
	for i := range w.Tasks {
		Recount(ctx, f, &w.Tasks[i])
	}
}

// ReadPlan reads a plan of this version of the program from a store.
func ReadPlan(ctx context.Context, st *store.Store, id, version string) (*plan.Plan, error) {
	data, err := st.ReadNote(ctx, record.PlansNote, id+".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, badinput.Errorf("the store has no plan %s; mine plan and mine run make plans", id)
	}
	if err != nil {
		return nil, err
	}
	return Decode(data, "plan "+id, version)
}

// Outputs calls keep with every output that a plan makes or uses, without those of sweepable stages if sweep is set.
func Outputs(p *plan.Plan, sweep bool, keep func(stage, key string)) {
	for _, w := range p.Waves {
		if d := registered[w.Stage]; d != nil && d.Sweepable && sweep {
			continue
		}
		for _, t := range w.Tasks {
			keep(t.Stage, t.Key)
		}
	}
	for _, d := range All() {
		if d.Uses != nil && !(d.Sweepable && sweep) {
			d.Uses(p, func(key string) { keep(d.Name, key) })
		}
	}
}
