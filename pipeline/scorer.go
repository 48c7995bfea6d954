package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/pipeline/rescore"
)

// defaultProbability is the threshold where a scorer decides: what is more likely a translation than not.
const defaultProbability = 0.5

// defaultThresholds are those of the margins that have one. 1.06 is LASER's published mining threshold.
var defaultThresholds = map[string]float64{string(mine.Ratio): 1.06}

// AutoThreshold stands for the default of whatever decides.
const AutoThreshold = -1

// scored says whether a scorer decides.
func (c *Config) scored() bool { return c.Scorer != "" && c.Scorer != rescore.None }

// validateScorer checks the settings of the scorer and resolves the threshold.
func (c *Config) validateScorer(fail func(format string, args ...any)) {
	if c.Precision != 0 && (c.Precision <= 0 || c.Precision >= 1) {
		fail("precision = %g must be between 0 and 1, or 0 for none", c.Precision)
	}
	if !c.scored() {
		if c.Precision != 0 || c.Features {
			fail("precision and features need a scorer; name one with --scorer")
		}
		if c.Threshold == AutoThreshold {
			threshold, ok := defaultThresholds[c.Margin]
			if !ok {
				fail("margin %s has no default threshold; give --threshold", c.Margin)
			}
			c.Threshold = threshold
		}
		return
	}
	if c.Retrieval != "" && mine.Retrieval(c.Retrieval) != mine.Max {
		fail("retrieval %s chooses by margin; with a scorer it is max, or give --scorer none", c.Retrieval)
	}
	switch {
	case c.Threshold == AutoThreshold && c.Precision == 0:
		c.Threshold = defaultProbability
	case c.Threshold == AutoThreshold:
		c.Threshold = 0
	case c.Threshold < 0 || c.Threshold > 1:
		fail("threshold = %g is no probability; with a scorer it is one, from 0 to 1; to cut by margin give --scorer none", c.Threshold)
	case c.Precision != 0 && c.Threshold != 0:
		fail("threshold and precision both cut by probability; give one")
	}
}

// loadScorer reads the scorer that the settings name, and tells what may make it wrong.
func (r *run) loadScorer() error {
	scorer, warnings, err := rescore.Load(r.cfg.Scorer, r.cfg.K, r.model)
	if err != nil {
		return err
	}
	for _, warning := range warnings {
		r.Log.Warn(warning)
	}
	r.scorer = scorer
	return nil
}

// scorerDigest names the scorer's content; empty without one.
func scorerDigest(scorer *rescore.Named) string {
	if scorer == nil {
		return ""
	}
	return digestOf(json.RawMessage(scorer.Data))
}

// scorerData is the scorer's file; nil without one.
func scorerData(scorer *rescore.Named) json.RawMessage {
	if scorer == nil {
		return nil
	}
	return scorer.Data
}

// judged is every candidate with its verdict, best first.
type judged struct {
	mine.Ranked // without a scorer, its candidates alone
	verdicts    []mine.Verdict
	kept        int
	threshold   float64 // that was used
}

// judge scores and matches the candidates of both sides' neighbours: by the scorer of the plan, or by margin.
func (w *worker) judge(ctx context.Context, forward, backward mine.Neighbours, sides [2]*sentences) (*judged, error) {
	s := w.plan.Settings
	if s.Scorer == "" {
		lists, err := mine.NewLists(forward, backward, s.K, mine.Margin(s.Margin))
		if err != nil {
			return nil, err
		}
		j := &judged{Ranked: mine.Ranked{Candidates: lists.Candidates()}, threshold: s.Threshold}
		j.verdicts = mine.Judge(j.Candidates, sides[0].len(), sides[1].len(), mine.Retrieval(s.Retrieval), s.Threshold)
		for _, v := range j.verdicts {
			if v == mine.Kept {
				j.kept++
			}
		}
		return j, nil
	}
	scorer, err := mine.DecodeScorer(w.plan.Scorer)
	if err != nil {
		return nil, badinput.Errorf("the plan's scorer: %w; make the plan again with mine run", err)
	}
	lists, err := mine.NewLists(forward, backward, scorer.K, mine.Margin(s.Margin))
	if err != nil {
		return nil, err
	}
	ranked, err := w.rank(ctx, scorer, lists, sides)
	if err != nil {
		return nil, fmt.Errorf("score candidates: %w", err)
	}
	j := &judged{Ranked: ranked, verdicts: ranked.Match(sides[0].len(), sides[1].len()), threshold: s.Threshold}
	if s.Precision > 0 {
		j.threshold = mine.ThresholdFor(ranked.Matched(j.verdicts), s.Precision)
	}
	j.kept = ranked.Cut(j.verdicts, j.threshold)
	return j, nil
}

// rank describes both sides and applies the scorer.
func (w *worker) rank(ctx context.Context, scorer *mine.Scorer, lists *mine.Lists, sides [2]*sentences) (_ mine.Ranked, err error) {
	tokens, closeTokens, err := rescore.OpenTokens(w.model, encode.Options{Threads: w.cfg.Threads, Library: w.cfg.ONNXRuntime})
	if err != nil {
		return mine.Ranked{}, err
	}
	defer func() { err = errors.Join(err, closeTokens()) }()
	var described [2]*rescore.Side
	for i, numbered := range sides {
		described[i] = rescore.NewSide(w.plan.Sides[i].Language, numbered.len(), tokens, w.cfg.Threads)
		if err := w.describe(ctx, i, numbered, described[i]); err != nil {
			return mine.Ranked{}, err
		}
	}
	return rescore.Apply(ctx, scorer, lists, described[0], described[1], w.cfg.Threads)
}

// describeChunk is how many texts are in memory at once.
const describeChunk = 64 << 10

// describe reads the texts of a side's distinct sentences, each from its first occurrence.
func (w *worker) describe(ctx context.Context, side int, numbered *sentences, into *rescore.Side) error {
	shards := w.plan.Sides[side].Shards
	for i := range shards {
		path, err := w.shardPath(ctx, &shards[i])
		if err != nil {
			return err
		}
		if err := describeShard(ctx, path, int32(i), numbered, into); err != nil {
			return err
		}
	}
	return nil
}

func describeShard(ctx context.Context, path string, shard int32, numbered *sentences, into *rescore.Side) error {
	var numbers []int32
	var texts []string
	err := eachDistinct(path, shard, numbered, func(number int32, text string) error {
		if numbers, texts = append(numbers, number), append(texts, text); len(texts) < describeChunk {
			return nil
		}
		err := into.Add(ctx, numbers, texts)
		numbers, texts = numbers[:0], texts[:0]
		return err
	})
	if err != nil {
		return err
	}
	return into.Add(ctx, numbers, texts)
}

// addScores fills in what a scorer says of a row's candidate.
func (t *table) addScores(at int, prob **float32, features *[]float32) {
	if t.Probabilities == nil {
		return
	}
	p := t.Probabilities[at]
	*prob = &p
	if t.worker.plan.Settings.Features {
		*features = t.Values.Of(at)
	}
}

// Rule says in words what was kept.
func (r *Report) Rule() string {
	s := r.Settings
	switch {
	case s.Scorer == "":
		return fmt.Sprintf("%s margin above %g, %s", s.Margin, s.Threshold, s.Retrieval)
	case s.Precision > 0:
		return fmt.Sprintf("probability from %.3f, which leaves a precision of %g by the scorer's probabilities", r.Threshold, s.Precision)
	default:
		return fmt.Sprintf("probability from %g", r.Threshold)
	}
}
