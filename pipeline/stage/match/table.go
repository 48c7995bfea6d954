package match

import (
	"context"
	"errors"
	"slices"

	"bitextmine/bitext"
	"bitextmine/corpus/shard"
	"bitextmine/filter"
	"bitextmine/filter/language"
	"bitextmine/mine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/view"
)

// table is the bitext before its texts are fetched.
type table struct {
	pair    *view.Pair
	threads int
	local   *local // what aligning documents found; nil: the run does not
	*view.Decision
}

// wanted returns the places of the candidates to write, best first: those kept, or all.
func (t *table) wanted(all bool) []int {
	var at []int
	for i, v := range t.Verdicts {
		kept := v == mine.Kept
		if t.local != nil {
			kept = kept && !t.local.less[i] || t.local.of[i] != nil
		}
		if all || kept {
			at = append(at, i)
		}
	}
	return at
}

// rows fetches the texts of some candidates.
func (t *table) rows(ctx context.Context, at []int) ([]bitext.Row, error) {
	rows := make([]bitext.Row, len(at))
	source, target := make([]int32, len(at)), make([]int32, len(at))
	for i, n := range at {
		c := t.Candidates[n]
		// The cosine of two float16 vectors can be 1.0001.
		rows[i] = bitext.Row{
			Score: c.Score, Cosine: min(c.Cosine, 1), SourceMean: c.SourceMean, TargetMean: c.TargetMean,
			SourceRank: c.SourceRank, TargetRank: c.TargetRank,
		}
		if t.Strong != nil && t.Strong[n] != mine.NotRefined {
			rows[i].RefineCosine = &t.Strong[n]
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
	err := errors.Join(
		t.fill(ctx, 0, source, rows, func(r *bitext.Row) *bitext.Sentence { return &r.Source }),
		t.fill(ctx, 1, target, rows, func(r *bitext.Row) *bitext.Sentence { return &r.Target }),
	)
	if t.local != nil {
		for i, n := range at {
			t.local.mark(n, &rows[i])
		}
	}
	return rows, err
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
	shown := map[string][]int{} // places of candidates, by reason
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
			shown[reason] = append(shown[reason], i)
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
	return all, nil
}

// fill reads the texts and provenance of a side's sentences, given by their numbers, and identifies their languages.
func (t *table) fill(ctx context.Context, side int, numbers []int32, rows []bitext.Row, of func(*bitext.Row) *bitext.Sentence) error {
	code := t.pair.Language(side).Code
	err := t.pair.RowsOf(ctx, side, numbers, func(at int, shard *plan.Shard, number uint32, row shard.Row) {
		*of(&rows[at]) = bitext.Sentence{
			Text: row.Text, Lang: code, Key: row.Key, Shard: shard.Name, Row: number, Doc: row.Doc, URL: row.URL, Line: row.Line, Place: row.Place,
		}
	})
	if err != nil {
		return err
	}
	identifier := language.For(code)
	return view.EachInParallel(ctx, t.threads, len(rows), func(i int) {
		s := of(&rows[i])
		guess := identifier.Identify(s.Text)
		s.Identified, s.Share = guess.Code, guess.Share
	})
}
