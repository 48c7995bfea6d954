package decide

import (
	"context"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/mine"
	"bitextmine/pipeline/view"
)

// Shortlist lists the sentences that two-stage mining encodes again: rows of their first occurrences, ascending, by
// side and shard. Where the run learns what the strong encoder adds to a scorer, they are of candidates that may be
// translations by the scorer, else of candidates whose static margin is above the floor.
func Shortlist(ctx context.Context, p *view.Pair, model *model.Model, options encode.Options) (list [2][][]uint32, err error) {
	wanted := [2][]bool{make([]bool, p.Sentences[0].Len()), make([]bool, p.Sentences[1].Len())}
	want := func(c mine.Candidate) { wanted[0][c.Source], wanted[1][c.Target] = true, true }
	if p.Plan.Settings.RefineDoubt > 0 {
		err = possible(ctx, newDecider(p, model, options), want)
	} else {
		err = above(ctx, p, want)
	}
	if err != nil {
		return list, err
	}
	for side, sentences := range p.Sentences {
		list[side] = make([][]uint32, len(sentences.Rows))
		for shard, numbers := range sentences.Rows {
			for row, number := range numbers {
				if wanted[side][number] && sentences.IsFirst(shard, row) {
					list[side][shard] = append(list[side][shard], uint32(row))
				}
			}
		}
	}
	return list, nil
}

// Seven languages and two strong encoders chose these (bench/results/two-stage-2026-11-28.md): with them a twenty-fifth
// of the text does as well as the quarter of it whose margin is above 1.06.
const (
	// surely is the highest probability of a pair that goes to the strong encoder: the first one is right about others.
	surely = 0.97
	// doubtful is the least probability of a pair in doubt, and 1 less the highest: the other candidates of its sentences
	// go to the strong encoder with it, for its margin is set against them.
	doubtful = 0.1
)

// possible gives out the candidates that may be translations by the first encoder, if not surely, and the rivals of
// those in doubt.
func possible(ctx context.Context, p *decider, want func(mine.Candidate)) (err error) {
	d := &Decision{}
	if d.Scorer, err = scorerFor(p); err != nil {
		return err
	}
	if err := p.rankFirst(ctx, d); err != nil {
		return err
	}
	first, err := adapted(p, d)
	if err != nil {
		return err
	}
	doubted := [2][]bool{make([]bool, p.Sentences[0].Len()), make([]bool, p.Sentences[1].Len())}
	for i, c := range d.Candidates {
		of := float64(first.Of(d.Probabilities[i]))
		if of >= p.Plan.Settings.RefineDoubt && of <= surely {
			want(c)
		}
		if of >= doubtful && of <= 1-doubtful {
			doubted[0][c.Source], doubted[1][c.Target] = true, true
		}
	}
	for _, c := range d.Candidates {
		if doubted[0][c.Source] || doubted[1][c.Target] {
			want(c)
		}
	}
	return d.Close()
}

// above gives out the candidates whose margin is above the floor.
func above(ctx context.Context, p *view.Pair, want func(mine.Candidate)) error {
	lists, scorer, err := neighbourhoods(ctx, p)
	if err != nil {
		return err
	}
	candidates := lists.Candidates()
	if scorer != nil {
		candidates = lists.ScoredCandidates()
	}
	for _, c := range candidates {
		if promising(p, c) && (scorer != nil || mine.Retrieval(p.Plan.Settings.Retrieval).Asks(c)) {
			want(c)
		}
	}
	return nil
}

// promising says whether the strong encoder is asked about a pair: of those that it has both sentences of, any where
// probabilities chose them, else those above the floor.
func promising(p *view.Pair, c mine.Candidate) bool {
	s := p.Plan.Settings
	return s.RefineDoubt > 0 || float64(c.Score) > s.RefineFloor
}
