package eval

import (
	"context"

	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/index"
	"bitextmine/mine"
	"bitextmine/score"
	"bitextmine/score/inject"
)

// BUCCRefined is this project's own protocol for two-stage mining: BUCC's sets by what decides in mine run --refine
// MODEL --scorer none.
var BUCCRefined = &Protocol{
	Name: "bucc-refined",
	Definition: [2]string{
		"Two-stage mining: pairs matched one-to-one by ratio margin (k = 4) times the cosine of a strong encoder, which sees only sentences of pairs whose margin is above the floor; a text that occurs twice on its side is excluded, gold is not filtered.",
		"Threshold: best F1 on the train half, midpoint to the next product, as in bucc-laser. Not comparable with the figures of other protocols.",
	},
	Columns: thresholdColumns,
	Dataset: "bucc2018",
	Strong:  true,
	bucc:    func() buccMeasure { return &refinedPair{thresholded: thresholded{score: ScoreBUCC}} },
}

// strongOn is the strong encoder of two-stage mining on one half, whose rows are given.
type strongOn struct {
	inject.Strong
	languages [2]string
	texts     [2][]string
}

func newStrongOn(strong *inject.Strong, half Half, source, target arranged) *strongOn {
	return &strongOn{
		// The vectors belong to one language pair.
		Strong:    inject.Strong{Encoder: strong.Encoder, Floor: strong.Floor},
		languages: [2]string{half.Source.Language, half.Target.Language},
		texts:     [2][]string{source.texts(half.Source), target.texts(half.Target)},
	}
}

func (s *strongOn) cosines(ctx context.Context, candidates []mine.Candidate) ([]float32, error) {
	return s.Cosines(ctx, s.languages, candidates, func(side int, number int32) string { return s.texts[side][number] })
}

func (s *strongOn) of(ctx context.Context, candidates []mine.Candidate) (of score.Strong, err error) {
	of.Cosines, err = s.cosines(ctx, candidates)
	return of, err
}

// mineRefined returns the pairs that two-stage mining matches by the product, and how many sentences the strong encoder
// saw.
func mineRefined(ctx context.Context, searcher index.Searcher, strong *inject.Strong,
	half Half) (_ Mined, seen int, err error) {
	source, target := arrange(half.Source, true), arrange(half.Target, true)
	lists, err := neighbours(ctx, searcher, source.rows, target.rows, laserNeighbours, mine.Ratio)
	if err != nil {
		return Mined{}, 0, err
	}
	on, candidates := newStrongOn(strong, half, source, target), lists.Candidates()
	cosines, err := on.cosines(ctx, candidates)
	if err != nil {
		return Mined{}, 0, err
	}
	gold := newPairSet(half.Gold)
	pairs := maxPairs(mine.Refine(candidates, cosines).Candidates, source, target, gold, 0, source.unique(target))
	return Mined{Half: half.Name, Pairs: pairs, Gold: len(gold)}, on.Seen(), nil
}

// refinedPair measures a pair with the runner's strong encoder.
type refinedPair struct {
	thresholded
	seen int // sentences of the last half that the strong encoder saw
}

func (p *refinedPair) add(ctx context.Context, r *Runner, half Half, last bool) error {
	p.mine = func(ctx context.Context, searcher index.Searcher, half Half) (mined Mined, err error) {
		mined, p.seen, err = mineRefined(ctx, searcher, r.Strong, half)
		return mined, err
	}
	return p.thresholded.add(ctx, r, half, last)
}

// report also notes how much the strong encoder had to encode.
func (p *refinedPair) report(out *report.Report, pair testset.LanguagePair) {
	p.thresholded.report(out, pair)
	out.Note("%s: the strong encoder saw %d of %d sentences", pair, p.seen, p.source+p.target)
}
