package match

import (
	"context"
	"slices"

	"bitextmine/bitext"
	"bitextmine/filter"
	"bitextmine/mine"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/view"
)

// table is the bitext before its texts are fetched.
type table struct {
	pair    *view.Pair
	threads int
	local   *local // what aligning documents found; nil: the run does not
	*decide.Decision
}

// wanted returns the places of the candidates to write, best first: those kept, or all.
func (t *table) wanted(all bool) ([]int32, error) {
	at, err := t.pair.Room().Ints(len(t.Verdicts))
	if err != nil {
		return nil, err
	}
	at = at[:0]
	for i, v := range t.Verdicts {
		kept := v == mine.Kept
		if t.local != nil {
			kept = kept && !t.local.less[i] || t.local.of[i] != nil
		}
		if all || kept {
			at = append(at, int32(i))
		}
	}
	return at, nil
}

// rows fetches the texts of some candidates.
func (t *table) rows(ctx context.Context, at []int32) ([]bitext.Row, error) {
	rows := make([]bitext.Row, len(at))
	source, target := make([]int32, len(at)), make([]int32, len(at))
	for i, place := range at {
		n := int(place)
		c := t.Candidates[n]
		// The cosine of two float16 vectors can be 1.0001.
		rows[i] = bitext.Row{
			Score: c.Score, Cosine: min(c.Cosine, 1), SourceMean: c.SourceMean, TargetMean: c.TargetMean,
			SourceRank: c.SourceRank, TargetRank: c.TargetRank,
		}
		if t.Seen(n) {
			rows[i].RefineCosine = &t.Cosines[n]
		}
		rows[i].Keep, rows[i].Reasons = filter.Decide(t.Verdicts[n], t.rejection(n))
		if t.Probabilities != nil {
			probability := t.Probabilities[n]
			rows[i].Prob = &probability
			if t.pair.Plan.Settings.Features {
				var err error
				if rows[i].Features, err = t.Values(n); err != nil {
					return nil, err
				}
			}
		}
		source[i], target[i] = c.Source, c.Target
	}
	sources, err := t.Texts.Read(ctx, 0, source)
	if err != nil {
		return nil, err
	}
	targets, err := t.Texts.Read(ctx, 1, target)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i].Source, rows[i].Target = sources[i].Sentence, targets[i].Sentence
	}
	if t.local != nil {
		for i, n := range at {
			t.local.mark(int(n), &rows[i])
		}
	}
	return rows, nil
}

func (t *table) rejection(n int) filter.Rejection {
	if t.Rejections == nil {
		return 0
	}
	return t.Rejections[n]
}

// rejected counts the pairs that rules rejected and reads some of them.
func (t *table) rejected(ctx context.Context) ([]record.Rejected, error) {
	var all []record.Rejected
	shown := map[string][]int32{} // places of candidates, by reason
	for i, v := range t.Verdicts {
		if v != mine.Rejected {
			continue
		}
		reason := t.Rejections[i].Reasons()[0]
		at := slices.IndexFunc(all, func(r record.Rejected) bool { return r.Reason == reason })
		if at < 0 {
			at, all = len(all), append(all, record.Rejected{Reason: reason})
		}
		if all[at].Pairs++; len(shown[reason]) < record.MaxSamples {
			shown[reason] = append(shown[reason], int32(i))
		}
	}
	for i := range all {
		rows, err := t.rows(ctx, shown[all[i].Reason])
		if err != nil {
			return nil, err
		}
		for n := range rows {
			all[i].Samples = append(all[i].Samples, sampleOf(&rows[n]))
		}
	}
	return t.withCopies(ctx, all)
}

// effort is the processor time of a stage, in seconds: of a task, and of each of its items. It was measured on a core
// of Zen 5 with the default encoder and German and English news.
type effort struct{ task, sentence float64 }

// Of matching, items are the sentences of both sides.
var (
	describing = effort{0.02, 6e-6}
	computing  = effort{0.05, 40e-6}
	scored     = effort{0.55, 2e-6} // also to find the margin's threshold by a scorer's probabilities
	byMargin   = effort{0.24, 8.7e-6}
)

// rate is how many sentences a second one core matches.
func rate(ctx context.Context, e *stage.Env, left []*plan.Task) (float64, error) {
	if e.Plan.Settings.Scorer != "" {
		return scored.rate(ctx, e, left)
	}
	return byMargin.rate(ctx, e, left)
}

// rate is how many items a second one core does of tasks.
func (is effort) rate(_ context.Context, _ *stage.Env, left []*plan.Task) (float64, error) {
	sentences := 0.0
	for _, t := range left {
		sentences += float64(t.Items)
	}
	return max(sentences, 1) / (is.task*float64(len(left)) + is.sentence*sentences), nil
}
