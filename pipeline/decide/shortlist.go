package decide

import (
	"context"

	"bitextmine/mine"
	"bitextmine/pipeline/view"
)

// Shortlist is what two-stage mining encodes again: the sentences of the candidates whose static margin is above the
// floor.
type Shortlist struct {
	Pairs int
	Rows  [2][][]uint32 // by side and shard: the rows of the sentences' first occurrences, ascending
}

// NewShortlist finds what to encode again from the pair's neighbours.
func NewShortlist(ctx context.Context, p *view.Pair) (*Shortlist, error) {
	lists, scorer, err := neighbourhoods(ctx, p, &view.Recall{})
	if err != nil {
		return nil, err
	}
	candidates := lists.Candidates()
	if scorer != nil {
		candidates = lists.ScoredCandidates()
	}
	s := &Shortlist{}
	wanted := [2][]bool{make([]bool, p.Sentences[0].Len()), make([]bool, p.Sentences[1].Len())}
	for _, c := range candidates {
		if promising(p, c) && (scorer != nil || mine.Retrieval(p.Plan.Settings.Retrieval).Asks(c)) {
			s.Pairs++
			wanted[0][c.Source], wanted[1][c.Target] = true, true
		}
	}
	for side, sentences := range p.Sentences {
		s.Rows[side] = make([][]uint32, len(sentences.Rows))
		for shard, numbers := range sentences.Rows {
			for row, number := range numbers {
				if wanted[side][number] && sentences.IsFirst(shard, row) {
					s.Rows[side][shard] = append(s.Rows[side][shard], uint32(row))
				}
			}
		}
	}
	return s, nil
}

// promising says whether a pair goes to the strong encoder.
func promising(p *view.Pair, c mine.Candidate) bool {
	return float64(c.Score) > p.Plan.Settings.RefineFloor
}
