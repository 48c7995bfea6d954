// Package judge is the stage that gives the candidates that the scorer is in doubt of the logits of a judge, a
// cross-encoder that reads both sentences together. Matching merges them with the scorer's log odds before it cuts.
//
// Which candidates those are is found by the task itself, from the neighbours, as matching scores them. A logit depends
// on its two sentences alone, so a task takes over those that the last run's output has, and judges the rest.
package judge

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"bitextmine/corpus"
	corpusshard "bitextmine/corpus/shard"
	"bitextmine/internal/spill"
	"bitextmine/mine"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/merge"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
)

// Stage is the descriptor.
var Stage = &stage.Descriptor{
	Name: view.Judge, Version: 6, Unit: "pairs", After: []string{view.Features, view.Refine},
	Wide: true, GPU: true, OnDemand: true,
}

func init() { // not in the declaration, as the functions refer to it
	Stage.Plan, Stage.Ledger, Stage.Check, Stage.Uses = planPairs, ledger{}, check, uses
	Stage.Run, Stage.Count, Stage.Rate = run, count, rate
	stage.Register(Stage)
}

// args is a pair.
type args struct {
	Pair int    `json:"pair"`
	Base string `json:"base,omitempty"` // the last run's output
}

// spec lists all that the logits depend on. The merges hold the text and the first encoder, the features the
// candidates.
type spec struct {
	Merges    [2][]string
	Refined   *[2][]string `json:",omitempty"`
	Floor     float64      `json:",omitempty"`
	Languages [2]string
	Margin    string
	Scorer    string
	Judge     string // digest
	Doubt     float64
	Device    string `json:",omitempty"` // setting.Arithmetic
	Features  []string
	decide.Way
}

// share is the number of candidates in doubt for each sentence that a plan assumes: which they are is known once they
// are scored.
const share = 0.03

// planPairs asks for the logits of every pair if the settings name a judge.
func planPairs(b *stage.Builder) error {
	if b.Judge == nil {
		return nil
	}
	scorer, err := b.DecodedScorer()
	if err != nil {
		return err
	}
	for i := range b.Pairs {
		merge.Want(b, i)
		pair, s := &b.Pairs[i], &b.Settings
		source, target := b.Side(i, 0), b.Side(i, 1)
		pair.Judged = Stage.Key(spec{
			pair.Merges, pair.Refined, s.RefineFloor, [2]string{source.Code, target.Code}, s.Margin, s.Scorer, s.Judge,
			s.JudgeDoubt, s.JudgeDevice, pair.Features, decide.WayOf(scorer, b.Plan, i, b.Listed),
		})
		a := args{Pair: i}
		if before := stage.Before[output](b, Stage, i); before != nil && before.Key != pair.Judged {
			a.Base = before.Key
		}
		sentences := int64(source.Rows() + target.Rows())
		b.Add(Stage, pair.Judged, int64(share*float64(sentences)), cost(sentences, b.Weights.Judge), a)
	}
	return nil
}

// cost is that of scoring candidates, and in memory an open judge: its weights, and 1 GiB of batches. It reads texts,
// too.
func cost(sentences, weights int64) stage.Cost {
	c := stage.Scoring(sentences)
	c.Fixed += max(2<<30, weights+1<<30)
	c.Read += sentences * stage.RowBytes
	return c
}

func check(p *plan.Plan, t *plan.Task) error {
	if p.Judge == nil {
		return errors.New("the plan names no judge")
	}
	return stage.CheckPair(p, t)
}

func uses(p *plan.Plan, use func(key string)) {
	stage.EachArgs(p, Stage.Name, func(_ *plan.Task, a args) {
		if a.Base != "" {
			use(a.Base)
		}
	})
}

// Info is a task's record of its logits.
type Info struct {
	Pairs  int `json:"pairs"`  // pairs in doubt
	Judged int `json:"judged"` // pairs that this task judged; the others were taken over
}

// count is exact once the task is done.
func count(ctx context.Context, f *view.Files, t *plan.Task) int64 {
	out, err := f.Store.Stat(ctx, store.Task{Stage: Stage.Name, Key: t.Key})
	var info Info
	if err != nil || json.Unmarshal(out.Info, &info) != nil {
		return t.Items
	}
	return int64(info.Judged)
}

// run finds the candidates in doubt and writes their logits.
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
	doubts, err := decide.Doubts(ctx, pair, e.Model, e.EncoderOptions())
	if err != nil {
		return nil, err
	}
	known, err := earlier(ctx, e, a.Base)
	if err != nil {
		return nil, err
	}
	info, all := Info{Pairs: len(doubts)}, make([]view.Judged, 0, len(doubts))
	for chunk := range slices.Chunk(doubts, chunkPairs) {
		judged, n, err := judgeChunk(ctx, e, pair, chunk, known, meter)
		if err != nil {
			return nil, err
		}
		all, info.Judged = append(all, judged...), info.Judged+n
	}
	t.Items = int64(info.Judged) // the plan could not know it
	return info, view.WriteJudged(filepath.Join(dir, view.JudgedFile), all)
}

// chunkPairs is how many pairs have their texts in memory at once.
const chunkPairs = 64 << 10

// judgeChunk gives some candidates their logits, and returns how many of them were not known before.
func judgeChunk(
	ctx context.Context, e *stage.Env, pair *view.Pair, doubts []mine.Candidate, known map[[2]corpus.Key]float32, meter progress.Meter,
) ([]view.Judged, int, error) {
	judged, texts, pairs := make([]view.Judged, len(doubts)), make([][2]string, len(doubts)), make([][2]int32, len(doubts))
	for i, c := range doubts {
		judged[i].Source, judged[i].Target = c.Source, c.Target
		pairs[i] = [2]int32{c.Source, c.Target}
	}
	err := pair.RowsOfPairs(ctx, pairs, func(at, side int, row corpusshard.Row) {
		judged[at].Keys[side], texts[at][side] = row.Key, corpus.Normalise(row.Text)
	})
	if err != nil {
		return nil, 0, err
	}
	var left []int
	var leftTexts [][2]string
	for i := range judged {
		logit, ok := known[judged[i].Keys]
		if judged[i].Logit = logit; !ok {
			left, leftTexts = append(left, i), append(leftTexts, texts[i])
		}
	}
	if len(left) == 0 {
		return judged, 0, nil
	}
	judge, err := e.Judge()
	if err != nil {
		return nil, 0, err
	}
	logits := make([]float32, len(left))
	if err := judge.Logits(ctx, leftTexts, logits, meter.Add); err != nil {
		return nil, 0, err
	}
	for i, at := range left {
		judged[at].Logit = logits[i]
	}
	return judged, len(left), nil
}

// earlier reads the logits of the last run's output; empty: there is none.
func earlier(ctx context.Context, e *stage.Env, base string) (map[[2]corpus.Key]float32, error) {
	known := map[[2]corpus.Key]float32{}
	if base == "" {
		return known, nil
	}
	return known, stage.TakeOver(ctx, e, Stage, []string{base}, "its pairs are judged again", func(out *store.Output) error {
		pairs, err := view.ReadJudged(out.Path(view.JudgedFile))
		for _, j := range pairs {
			known[j.Keys] = j.Logit
		}
		return err
	})
}

// sampled is how many pairs a rate is measured on, at most.
const sampled = 64

// rate measures on the first sentences of both sides.
func rate(ctx context.Context, e *stage.Env, left []*plan.Task) (float64, error) {
	a, err := stage.Args[args](left[0])
	if err != nil {
		return 0, err
	}
	pair, err := e.Pair(a.Pair)
	if err != nil {
		return 0, err
	}
	doubts := make([]mine.Candidate, min(sampled, pair.Sentences[0].Len(), pair.Sentences[1].Len()))
	for i := range doubts {
		doubts[i].Source, doubts[i].Target = int32(i), int32(i)
	}
	if _, err := e.Judge(); err != nil { // opening takes its time, too, but once
		return 0, err
	}
	start := time.Now()
	_, n, err := judgeChunk(ctx, e, pair, doubts, nil, progress.Silent.Start("", 0, ""))
	return float64(max(n, 1)) / time.Since(start).Seconds(), err
}

// output names the judged pairs that a run leaves for the next.
type output struct {
	Key string `json:"key"`
}

// ledger names the newest output of every pair.
type ledger struct{}

// noteName names the runs that share logits: these depend on the judge, its device and the languages.
func noteName(p *plan.Plan, pair int) string {
	s := p.Settings
	return plan.Key("judged", 1, []any{s.Judge, s.JudgeDevice, p.Side(pair, 0).Code, p.Side(pair, 1).Code}) + ".json"
}

// Read implements [stage.Ledger].
func (ledger) Read(ctx context.Context, st *store.Store, r stage.Request, log *slog.Logger) (any, error) {
	if r.Judge == nil {
		return nil, nil
	}
	return stage.ReadPairs[output](ctx, st, r, log, noteName, "the ledger of the judge's logits is damaged; pairs are judged again")
}

// Write implements [stage.Ledger].
func (ledger) Write(ctx context.Context, st *store.Store, p *plan.Plan) error {
	for pair := range p.Pairs {
		if key := p.Pairs[pair].Judged; key != "" {
			if err := record.WriteLedger(ctx, st, noteName(p, pair), output{key}); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// Estimate is the work left for a plan's judge.
type Estimate struct {
	Judge string `json:"judge"`
	Pairs int64  `json:"pairs"` // about
}

// EstimateOf adds up what is left for the judge of a plan; nil: it has none.
func EstimateOf(p *plan.Plan, cost plan.Cost) *Estimate {
	if p.Judge == nil {
		return nil
	}
	e := &Estimate{Judge: p.Judge.Name}
	for _, s := range cost.Stages {
		if s.Name == Stage.Name {
			e.Pairs = s.Items
		}
	}
	return e
}
