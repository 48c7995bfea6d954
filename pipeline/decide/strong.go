package decide

import (
	"context"
	"errors"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/exact"
	"bitextmine/mine"
	"bitextmine/pipeline/view"
	"bitextmine/score"
	"bitextmine/score/fit"
)

// strongOf returns what the strong encoder says of the promising candidates that it has both sentences of. Its margins
// are over k neighbours; without any, there are only cosines.
func strongOf(ctx context.Context, p *view.Pair, candidates []mine.Candidate, k, threads int) (of score.Strong, err error) {
	var sides [2]*strongSide
	for side := range sides {
		if sides[side], err = openStrong(ctx, p, side); err != nil {
			return of, err
		}
		defer func() { err = errors.Join(err, sides[side].Close()) }()
	}
	source, target := sides[0], sides[1]
	var lists *mine.Lists
	if k > 0 && source.n > 0 && target.n > 0 {
		if lists, err = strongLists(ctx, source, target, k, threads); err != nil {
			return of, err
		}
		of.Distances = make([]float32, len(candidates))
	}
	of.Cosines = make([]float32, len(candidates))
	for i, c := range candidates {
		switch {
		case !promising(p, c):
			of.Cosines[i] = mine.NotRefined
		case source.Vector(c.Source, source.row) && target.Vector(c.Target, target.row):
			of.Cosines[i] = min(embedding.Dot(source.row, target.row), 1) // rows in 16 bits may be a little longer
			if lists != nil {
				of.Distances[i] = without(lists, source.places[c.Source], target.places[c.Target], of.Cosines[i])
			}
		case p.Plan.Settings.RefineDoubt == 0 && mine.Retrieval(p.Plan.Settings.Retrieval).Asks(c):
			return of, errors.New("a promising pair has no strong vectors; give mine run again")
		default:
			of.Cosines[i] = mine.NotRefined
		}
	}
	return of, nil
}

// strongSide has the strong vectors of a side.
type strongSide struct {
	*view.Strong
	n      int     // sentences that have one
	places []int32 // index of its vector in key order, by sentence number; -1: it has none
	row    []float32
}

func openStrong(ctx context.Context, p *view.Pair, side int) (*strongSide, error) {
	strong, err := p.OpenStrong(ctx, side)
	if err != nil {
		return nil, err
	}
	s := &strongSide{Strong: strong, row: make([]float32, p.Plan.Refiner.Dim), places: make([]int32, p.Sentences[side].Len())}
	for number := range s.places {
		s.places[number] = -1
		if strong.Has(int32(number)) {
			s.places[number] = int32(s.n)
			s.n++
		}
	}
	return s, nil
}

// matrix copies the vectors, [n, dim], as float16, in which most runs store them.
func (s *strongSide) matrix() embedding.Matrix {
	dim := len(s.row)
	all := embedding.Matrix{N: s.n, Dim: dim, F16: make([]uint16, 0, s.n*dim)}
	for number, place := range s.places {
		if place >= 0 && s.Vector(int32(number), s.row) {
			all.F16 = append(all.F16, embedding.Narrow(embedding.FromFloat32(s.row, dim)).F16...)
		}
	}
	return all
}

// strongLists finds the nearest neighbours among the sentences that the strong encoder has seen.
func strongLists(ctx context.Context, source, target *strongSide, k, threads int) (*mine.Lists, error) {
	searcher, err := exact.Open(exact.Options{Threads: threads})
	if err != nil {
		return nil, err
	}
	found, err := searcher.Search(ctx, index.Side{Vectors: source.matrix()}, index.Side{Vectors: target.matrix()}, k, nil)
	if err != nil {
		return nil, err
	}
	return mine.NewLists(found.Source, found.Target, k, mine.Distance)
}

// without is the distance margin of a pair without the pair itself in the neighbourhoods.
func without(lists *mine.Lists, source, target int32, cosine float32) float32 {
	c := lists.Candidate(source, target, cosine)
	x, _ := mine.Others(lists.Source, lists.K, source, c.SourceRank)
	y, _ := mine.Others(lists.Target, lists.K, target, c.TargetRank)
	return mine.Distance.Of(cosine, x, y)
}

// weigh learns in the text what the strong encoder of two-stage mining adds to the probabilities of the first one, and
// ranks the candidates by both. Then probabilities are adapted to the text.
func (p *decider) weigh(ctx context.Context, d *Decision) (err error) {
	if d.Strong, err = strongOf(ctx, p.Pair, d.Candidates, d.Scorer.K, p.options.Threads); err != nil {
		return err
	}
	first, err := adapted(p, d)
	if err != nil {
		return err
	}
	refined, err := fit.Strong(&d.Ranked, first)
	if err != nil || refined == nil {
		return err
	}
	scorer := *d.Scorer
	scorer.Refined, d.Scorer, p.weighed = refined, &scorer, true
	d.Refine(refined, first)
	return nil
}
