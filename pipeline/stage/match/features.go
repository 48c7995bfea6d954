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
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/view"
	"bitextmine/score/feature"
)

// Features is the descriptor of the stage that finds the candidates of a source shard's sentences and computes their
// features, which takes most of the time of matching. A candidate's features depend on its two sentences, on their
// neighbours and on counts over both languages, never on the other candidates of its shard; so the bitext is the same
// for any shards.
var Features = &stage.Descriptor{
	Name: view.Features, Version: 2, Unit: "sentences", After: []string{view.Merge, view.Describe}, Wide: true, OnDemand: true,
}

func init() { // not in the declaration, as the functions refer to it
	Features.Plan, Features.Check, Features.Run, Features.Rate = planFeatures, stage.CheckPairShard, compute, computing.rate
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
	KeepCopies        bool `json:",omitempty"` // untranslated text is a candidate
}

// planFeatures asks for the features of every pair's candidates if a scorer weighs them.
func planFeatures(b *stage.Builder) error {
	scorer, err := b.DecodedScorer()
	if scorer == nil {
		return err
	}
	for at := range b.Pairs {
		pair := &b.Pairs[at]
		spec := featuresSpec{Merges: pair.Merges, K: scorer.K, Margin: b.Settings.Margin, KeepCopies: b.Settings.KeepCopies}
		for side := range spec.Described {
			for _, s := range b.Side(at, side).Shards {
				spec.Described[side] = append(spec.Described[side], s.Described)
			}
		}
		pair.Features = make([]string, len(pair.Merges[0]))
		for i := range pair.Features {
			spec.Shard = i
			pair.Features[i] = Features.Key(spec)
			own := b.Side(at, 0).Shards[i].Rows
			b.Add(Features, pair.Features[i], int64(own), featuresCost(b, at, i), featuresArgs{at, i})
		}
	}
	return nil
}

// candidateBytes is the size of a candidate with its features.
var candidateBytes = int64(28 + 4*feature.Count)

// candidatesEach is the number of candidates of a source sentence, in hundredths: 110 to 150 were seen in German and
// English.
const candidatesEach = 140

// featuresCost is, in memory, an upper bound that was measured: the table of token vectors, and a shard's neighbours
// twice while all are put together. Temporary files have a copy of the candidates, and the neighbours of all, which the
// tasks of a process share.
func featuresCost(b *stage.Builder, pair, shard int) stage.Cost {
	sides := [2]*plan.Language{b.Side(pair, 0), b.Side(pair, 1)}
	list := 8 * int64(b.Settings.K)
	largest := max(sides[0].LargestShard(), sides[1].LargestShard())
	candidates := int64(sides[0].Shards[shard].Rows) * candidatesEach / 100 * candidateBytes
	c := stage.Cost{
		Fixed: 256 << 20, Memory: 2 * int64(largest) * list, Disk: candidates, Scratch: stage.Spilled(candidates),
	}
	var text int64
	for _, side := range sides {
		n := int64(side.Rows())
		c.Scratch += spilledOf(n, list)
		c.Memory += heldOf(n) * 5 / 4
		c.Expected += heldOf(n)
		c.Read += n * (stage.KeyBytes + list)
		for i := range side.Shards {
			size := stage.SizeOf(&side.Shards[i])
			text += size
			c.Read += describedSize(size, int64(side.Shards[i].Rows))
		}
	}
	c.Expected += 15<<20 + min(text*13, 95<<20) // sentences, and the table of the token vectors that occur
	return c
}

// spilledOf is the bytes of temporary files for a side of n sentences: their lists, and what is known of each.
func spilledOf(n, list int64) int64 { return 2*stage.Spilled(n*list/2) + mapped/4*stage.Spilled(n*4) }

// heldOf is the measured bytes of memory for a side of n sentences that do not go to temporary files.
func heldOf(n int64) int64 { return stage.Held(n*8) / 8 * 50 }

// featuresInfo is a task's record of its candidates.
type featuresInfo struct {
	Candidates int        `json:"candidates"`
	Copies     int        `json:"copies,omitempty"` // pairs that are no candidates, as the text was not translated
	Shown      [][2]int32 `json:"shown,omitempty"`  // some of them, by sentence numbers
}

// compute writes the candidates of a source shard with their features.
func compute(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (_ any, err error) {
	a, err := stage.Args[featuresArgs](t)
	if err != nil {
		return nil, err
	}
	defer usage.SteadyHeap()()
	var candidates []mine.Candidate
	var copies [][2]int32
	var values *feature.Table
	room := &spill.Arena{Space: spill.In(dir)}
	defer func() { err = errors.Join(err, room.Close()) }()
	// What is opened outlives the task, whose folder is published: its files without names are beside that.
	err = openedOf(e).use(ctx, e, a.Pair, spill.In(filepath.Dir(dir)), func(of *decide.Described) error {
		candidates, values, err = of.Candidates(ctx, a.Shard, room, e.EncoderOptions().Threads)
		copies = of.Copies(a.Shard)
		return err
	})
	if err != nil {
		return nil, err
	}
	meter.Add(t.Items)
	err = feature.WriteCandidates(filepath.Join(dir, view.CandidatesFile), candidates, values)
	info := featuresInfo{len(candidates), len(copies), copies[:min(len(copies), record.MaxSamples)]}
	return info, errors.Join(err, values.Close())
}

// opened is what tasks need of the shards of a pair. The first task of a pair opens it for the pair's later tasks in
// the process, which run one after the other.
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
		pair.Space = space
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
