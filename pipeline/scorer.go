package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/pipeline/plan"
	"bitextmine/score"
)

// loadScorer reads the scorer that the settings name, and tells what may make it wrong.
func (r *run) loadScorer() error {
	scorer, warnings, err := score.Load(r.cfg.Scorer, r.cfg.K, r.model)
	if err != nil {
		return err
	}
	for _, warning := range warnings {
		r.Log.Warn(warning)
	}
	r.scorer = scorer
	return nil
}

// scorerDigest names the scorer's content and the token vectors that it is given; empty without a scorer.
func scorerDigest(scorer *score.Named, tokens encode.TokenOutput) string {
	if scorer == nil {
		return ""
	}
	return digestOf([]any{json.RawMessage(scorer.Data), tokens})
}

// scorerData is the scorer's file; nil without one.
func scorerData(scorer *score.Named) json.RawMessage {
	if scorer == nil {
		return nil
	}
	return scorer.Data
}

// judged is every candidate with its verdict, best first.
type judged struct {
	score.Ranked // without a scorer, its candidates alone
	verdicts     []mine.Verdict
	kept         int
	threshold    float64 // that was used
}

// judge scores and matches the candidates of both sides' neighbours: by the scorer of the plan, or by margin.
func (w *worker) judge(ctx context.Context, forward, backward mine.Neighbours, sides [2]*sentences) (*judged, error) {
	s := w.plan.Settings
	if s.Scorer == "" {
		lists, err := mine.NewLists(forward, backward, s.K, mine.Margin(s.Margin))
		if err != nil {
			return nil, err
		}
		j := &judged{Ranked: score.Ranked{Candidates: lists.Candidates()}, threshold: s.Threshold}
		j.verdicts = mine.Judge(j.Candidates, sides[0].len(), sides[1].len(), mine.Retrieval(s.Retrieval), s.Threshold)
		for _, v := range j.verdicts {
			if v == mine.Kept {
				j.kept++
			}
		}
		return j, nil
	}
	scorer, err := score.Decode(w.plan.Scorer)
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
		j.threshold = score.ThresholdFor(ranked.Matched(j.verdicts), s.Precision)
	}
	j.kept = ranked.Cut(j.verdicts, j.threshold)
	return j, nil
}

// rank describes both sides and applies the scorer.
func (w *worker) rank(ctx context.Context, scorer *score.Scorer, lists *mine.Lists, sides [2]*sentences) (_ score.Ranked, err error) {
	tokens, closeTokens, err := score.OpenTokens(w.model, w.cfg.EncoderOptions())
	if err != nil {
		return score.Ranked{}, err
	}
	defer func() { err = errors.Join(err, closeTokens()) }()
	problem := score.Problem{
		Languages: [2]string{w.plan.Sides[0].Language, w.plan.Sides[1].Language},
		Lists:     lists, Tokens: tokens, Threads: w.cfg.Threads,
		Read: func(ctx context.Context, side int, into *score.SideBuilder) error {
			return w.describe(ctx, side, sides[side], into)
		},
	}
	return problem.Apply(ctx, scorer)
}

// describeChunk is how many texts are in memory at once.
const describeChunk = 64 << 10

// describe reads the texts of a side's distinct sentences, each from its first occurrence.
func (w *worker) describe(ctx context.Context, side int, numbered *sentences, into *score.SideBuilder) error {
	for i := range w.plan.Sides[side].Shards {
		shard := &w.plan.Sides[side].Shards[i]
		path, err := w.shardPath(ctx, shard)
		if err != nil {
			return err
		}
		vectors, err := w.input(ctx, plan.Encode, shard.Vector)
		if err != nil {
			return err
		}
		known, cut, err := encode.ReadTokens(vectors.Path(embeddingName), shard.Rows)
		if err != nil {
			return err
		}
		d := describing{into: into}
		if cut {
			d.known = &known
		}
		err = eachDistinct(path, int32(i), numbered, func(row uint32, number int32, text string) error {
			d.rows, d.numbers, d.texts = append(d.rows, row), append(d.numbers, number), append(d.texts, text)
			if len(d.texts) < describeChunk {
				return nil
			}
			return d.flush(ctx)
		})
		if err == nil {
			err = d.flush(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// describing is some sentences of a shard on their way into a side.
type describing struct {
	into    *score.SideBuilder
	known   *encode.TokenIDs // of the shard's rows; nil: none
	rows    []uint32
	numbers []int32
	texts   []string
}

func (d *describing) flush(ctx context.Context) (err error) {
	if d.known != nil {
		err = d.into.AddTokenized(ctx, d.numbers, d.texts, d.rows, *d.known)
	} else {
		err = d.into.Add(ctx, d.numbers, d.texts)
	}
	d.rows, d.numbers, d.texts = d.rows[:0], d.numbers[:0], d.texts[:0]
	return err
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
