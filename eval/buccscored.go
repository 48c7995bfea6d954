package eval

import (
	"context"
	"fmt"

	"bitextmine/corpus"
	"bitextmine/eval/report"

	"bitextmine/eval/testset"

	"bitextmine/index"
	"bitextmine/mine"
	"bitextmine/score"
	"bitextmine/score/inject"
)

// BUCCScored is this project's own protocol: BUCC's sets with a learned probability instead of the margin.
var BUCCScored = &Protocol{
	Name: "bucc-scored",
	Definition: [2]string{
		"Pairs matched one-to-one by a scorer's probability over the k neighbours of both sides; a text that occurs twice on its side is excluded, gold is not filtered.",
		"Threshold: best F1 on the train half, midpoint to the next probability, as in bucc-laser; the scorer was fitted without this gold. Not comparable with the figures of other protocols.",
	},
	Columns: thresholdColumns,
	Dataset: "bucc2018",
	Scorer:  true,
	bucc:    func() buccMeasure { return &scoredPair{thresholded: thresholded{score: ScoreBUCC}} },
}

// Scoring is the scorer of bucc-scored with the encoder's token output.
type Scoring struct {
	Scorer  *score.Scorer
	Tokens  score.Tokenizer // nil if there is none
	Threads int
}

// Mine returns the pairs that a run with the scorer would match, and the quality of their probabilities. A matched pair
// counts as true if it is gold and as false if not, even if a reader would accept it.
// strong is the strong encoder of a scorer of two-stage mining, otherwise nil.
func (s *Scoring) Mine(ctx context.Context, searcher index.Searcher, strong *inject.Strong,
	half Half) (Mined, score.Quality, error) {
	source, target := arrange(half.Source, true), arrange(half.Target, true)
	lists, err := neighbours(ctx, searcher, source.rows, target.rows, s.Scorer.K, mine.Ratio)
	if err != nil {
		return Mined{}, score.Quality{}, err
	}
	problem := score.Problem{
		Languages: [2]string{half.Source.Language, half.Target.Language}, Lists: lists, Tokens: s.Tokens,
		Threads: s.Threads,
		Read:    score.Texts([2][]string{source.texts(half.Source), target.texts(half.Target)}),
	}
	if strong != nil {
		problem.Strong = newStrongOn(strong, half, source, target).cosines
	}
	ranked, err := problem.Apply(ctx, s.Scorer)
	if err != nil {
		return Mined{}, score.Quality{}, err
	}
	gold := newPairSet(half.Gold)
	mined := Mined{Half: half.Name, Gold: len(gold)}
	var outcomes []score.Outcome
	for i, verdict := range ranked.Match(source.rows.N, target.rows.N) {
		c := ranked.Candidates[i]
		if verdict != mine.Kept || source.repeated[c.Source] || target.repeated[c.Target] {
			continue
		}
		pair := report.Scored{Source: source.sentence[c.Source], Target: target.sentence[c.Target],
			Score: float64(ranked.Probabilities[i])}
		pair.Correct = gold.has(pair.Source, pair.Target)
		mined.Pairs = append(mined.Pairs, pair)
		outcomes = append(outcomes, score.Outcome{Probability: ranked.Probabilities[i], True: pair.Correct, Weight: 1})
	}
	return mined, score.Measure(outcomes), nil
}

// texts returns the normalised texts of the rows.
func (a arranged) texts(v testset.EncodedSide) []string {
	out := make([]string, len(a.sentence))
	for i, s := range a.sentence {
		out[i] = corpus.Normalise(v.Texts[s])
	}
	return out
}

// scoredPair measures a pair with the runner's scorer.
type scoredPair struct {
	thresholded
	quality score.Quality // quality on the last half
}

func (s *scoredPair) add(ctx context.Context, r *Runner, half Half, last bool) error {
	s.mine = func(ctx context.Context, searcher index.Searcher, half Half) (mined Mined, err error) {
		mined, s.quality, err = r.Scoring.Mine(ctx, searcher, r.Strong, half)
		return mined, err
	}
	return s.thresholded.add(ctx, r, half, last)
}

// report also notes the quality of the probabilities of the reported half.
func (s *scoredPair) report(out *report.Report, pair testset.LanguagePair) {
	s.thresholded.report(out, pair)
	mined, q := s.mined[len(s.mined)-1], s.quality
	at := report.Extract(mined.Pairs, mined.Gold, 0.5)
	out.Note("%s at probability 0.5, no gold used: F1 %.2f, precision %.2f, recall %.2f", pair, at.F1(), at.Precision(),
		at.Recall())
	top := q.Bins[len(q.Bins)-1]
	out.Note("%s: of %d pairs given 0.9 to 1.0, %.1f%% are gold; expected calibration error over %d matched pairs %.4f; reliability (probability: share that is gold, pairs): %s",
		pair, top.Examples, 100*top.True, q.Examples, q.Calibration, diagram(q))
}

// diagram formats a reliability diagram as one line.
func diagram(q score.Quality) string {
	out := ""
	for i, b := range q.Bins {
		if i > 0 {
			out += ", "
		}
		out += fmt.Sprintf("%.2f: %.2f (%d)", b.Probability, b.True, b.Examples)
	}
	return out
}
