package match

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"bitextmine/internal/spill"
	"bitextmine/internal/usage"
	"bitextmine/mine"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/view"
	"bitextmine/score/feature"
)

// Features is the descriptor of the stage that finds the candidates of a source shard's sentences and computes their
// features, which takes most of the time of matching. A candidate's features depend on its two sentences, on their
// neighbours and on counts over both languages, never on the other candidates of its shard; so the bitext is the same
// for any shards.
var Features = &stage.Descriptor{
	Name: view.Features, Version: 1, Unit: "sentences", After: []string{view.Merge, view.Describe}, Wide: true, OnDemand: true,
}

func init() { // not in the declaration, as the functions refer to it
	Features.Plan, Features.Check, Features.Run, Features.Rate = planFeatures, checkFeatures, compute, computing.rate
	stage.Register(Features)
}

// featuresArgs is a source shard of a pair.
type featuresArgs struct {
	Pair  int `json:"pair"`
	Shard int `json:"shard"`
}

// featuresSpec lists all that the candidates of a source shard and their features depend on.
type featuresSpec struct {
	Merges, Described [2][]string // keys in the order of the shards, which numbers the sentences
	Shard             int
	K                 int
	Margin            string
}

// planFeatures asks for the features of every pair's candidates if a scorer weighs them.
func planFeatures(b *stage.Builder) error {
	scorer, err := scorerOf(b)
	if scorer == nil {
		return err
	}
	for at := range b.Pairs {
		pair := &b.Pairs[at]
		spec, rows := featuresSpec{Merges: pair.Merges, K: scorer.K, Margin: b.Settings.Margin}, 0
		for side := range spec.Described {
			rows += b.Side(at, side).Rows()
			for _, s := range b.Side(at, side).Shards {
				spec.Described[side] = append(spec.Described[side], s.Described)
			}
		}
		pair.Features = make([]string, len(pair.Merges[0]))
		for i := range pair.Features {
			spec.Shard = i
			pair.Features[i] = Features.Key(spec)
			own := b.Side(at, 0).Shards[i].Rows
			largest := max(b.Side(at, 0).LargestShard(), b.Side(at, 1).LargestShard())
			b.Add(Features, pair.Features[i], int64(own), featuresCost(b.Settings, own, rows, largest, i == 0), featuresArgs{at, i})
		}
	}
	return nil
}

// candidateBytes is the size of a candidate with its features.
var candidateBytes = int64(28 + 4*feature.Count)

// candidatesEach is the number of candidates of a source sentence: 1.5 were seen in German and English.
const candidatesEach = 2

// featuresCost is, in memory, an upper bound that was measured: the table of token vectors, and a shard's neighbours
// twice while all are put together. On disk it is the candidates, and what is gone at the end: a copy of them, and for
// a pair's first task the neighbours of all, which the tasks of a process share.
func featuresCost(s plan.Settings, own, rows, largest int, first bool) stage.Cost {
	n, some, list := int64(rows), candidatesEach*int64(own), 8*int64(s.K)
	c := stage.Cost{
		Memory: 256<<20 + 2*int64(largest)*list,
		Disk:   some * candidateBytes,
		Read:   n * (stage.KeyBytes + list + described),
	}
	if first {
		c.Disk += some*candidateBytes + n*(list+mapped)
	}
	return c
}

func checkFeatures(p *plan.Plan, t *plan.Task) error {
	if err := stage.CheckPair(p, t); err != nil {
		return err
	}
	a, err := stage.Args[featuresArgs](t)
	if err == nil {
		err = stage.Within("shard", a.Shard, len(p.Side(a.Pair, 0).Shards))
	}
	return err
}

// featuresInfo is a task's record of its candidates.
type featuresInfo struct {
	Candidates int `json:"candidates"`
}

// compute writes the candidates of a source shard with their features.
func compute(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (_ any, err error) {
	a, err := stage.Args[featuresArgs](t)
	if err != nil {
		return nil, err
	}
	var candidates []mine.Candidate
	var values *feature.Table
	room := &spill.Arena{Space: spill.Space{Dir: dir, Memory: inMemory}}
	defer func() { err = errors.Join(err, room.Close()) }()
	err = openedOf(e).use(ctx, e, a.Pair, room.Space, func(of *decide.Described) error {
		candidates, values, err = of.Candidates(ctx, a.Shard, room, e.EncoderOptions().Threads)
		return err
	})
	if err != nil {
		return nil, err
	}
	meter.Add(t.Items)
	err = feature.WriteCandidates(filepath.Join(dir, view.CandidatesFile), candidates, values)
	return featuresInfo{len(candidates)}, errors.Join(err, values.Close())
}

// opened is what tasks need of the shards of a pair. The first task of a pair opens it for those that follow it in the
// process, which are done one after the other.
type opened struct {
	mu   sync.Mutex
	pair int
	of   *decide.Described // nil: none is open
}

// openedOf returns what is open in an environment.
func openedOf(e *stage.Env) *opened {
	o, _ := stage.Shared(e, "described pair", func() (*opened, func() error, error) {
		o := &opened{}
		return o, o.close, nil
	})
	return o
}

// use calls do with what is open of a pair. What is open of another one is closed before.
func (o *opened) use(ctx context.Context, e *stage.Env, index int, space spill.Space, do func(*decide.Described) error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of != nil && o.pair != index {
		if err := o.free(); err != nil {
			return err
		}
	}
	if o.of == nil {
		tokens, err := tokensOf(e)
		if err != nil {
			return err
		}
		pair, err := e.Pair(index)
		if err != nil {
			return err
		}
		pair.Space = space // its files have no names, and stay when the folder is published
		if o.of, err = decide.OpenDescribed(ctx, pair, tokens); err != nil {
			return err
		}
		o.pair = index
		usage.TrimHeap()
	}
	return do(o.of)
}

// free closes what is open. The caller holds the lock.
func (o *opened) free() error {
	if o.of == nil {
		return nil
	}
	err := o.of.Close()
	o.of = nil
	return err
}

func (o *opened) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.free()
}
