package eval

import (
	"context"
	"fmt"
	"math"

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
		"f1, precision, recall: at the threshold of the best F1 on the train half, as in bucc-laser. cut: as mine run cuts, without gold, and calibration_error: of the pairs that it keeps. margin_f1: best F1 of the ratio margin, of bucc-laser where k = 4. Not comparable with other protocols.",
	},
	Columns: scoredColumns,
	Dataset: "bucc2018",
	Scorer:  true,
	bucc:    func() buccMeasure { return &scoredPair{thresholded: thresholded{score: ScoreBUCC}} },
}

// scoredColumns compare the margin's best F1, the scorer's best F1 and the scorer's result without gold.
var scoredColumns = append([]report.Column{
	{Name: "margin_f1", Kind: report.Percentage}, {Name: "f1", Kind: report.Percentage},
	{Name: "cut_f1", Kind: report.Percentage}, {Name: "cut_precision", Kind: report.Percentage}, {Name: "cut_recall", Kind: report.Percentage},
	{Name: "calibration_error", Kind: report.Percentage},
}, thresholdColumns[1:]...)

// Scoring is the scorer of bucc-scored with the encoder's token output.
type Scoring struct {
	Scorer  *score.Scorer
	Tokens  score.Tokenizer // nil if there is none
	Threads int
	// Languages are those of the encoder: of others, probabilities follow the share of translations alone.
	Languages []string
}

// MinedByScore is the pairs of a half that a run with the scorer would match.
type MinedByScore struct {
	Mined
	ByMargin Mined         // the pairs of the ratio margin over the same neighbours
	Cut      float64       // the probability from which a run keeps pairs
	Kept     score.Quality // of these, by the probabilities that are adapted to the text
	// Quality is that of the probabilities: a matched pair is true if it is gold, even if a reader would accept others.
	Quality score.Quality
}

// Mine matches the pairs of a half. strong is the strong encoder of a scorer of two-stage mining, otherwise nil.
func (s *Scoring) Mine(ctx context.Context, searcher index.Searcher, strong *inject.Strong, half Half) (mined MinedByScore, err error) {
	source, target := arrange(half.Source, true), arrange(half.Target, true)
	lists, err := neighbours(ctx, searcher, source.rows, target.rows, s.Scorer.K, mine.Ratio)
	if err != nil {
		return mined, err
	}
	problem := score.Problem{
		Languages: [2]string{half.Source.Language, half.Target.Language}, Lists: lists, Tokens: s.Tokens,
		Threads: s.Threads,
		Read:    score.Texts([2][]string{source.texts(half.Source), target.texts(half.Target)}),
	}
	if strong != nil {
		problem.Strong = newStrongOn(strong, half, source, target).of
	}
	ranked, err := problem.Apply(ctx, s.Scorer)
	if err != nil {
		return mined, err
	}
	gold := newPairSet(half.Gold)
	mined.Mined = Mined{Half: half.Name, Gold: len(gold)}
	mined.ByMargin = mined.Mined
	mined.ByMargin.Pairs = maxPairs(lists.Candidates(), source, target, gold, 0, source.unique(target))
	verdicts := ranked.Match(source.rows.N, target.rows.N)
	matched := ranked.Matched(verdicts, false)
	known := corpus.Lists(s.Languages, half.Source.Language) && corpus.Lists(s.Languages, half.Target.Language)
	adapted := score.Adapt(matched, s.Scorer.PriorOf(len(ranked.Candidates), len(matched)), known)
	for i, p := range matched {
		matched[i] = adapted.Of(p)
	}
	threshold := score.Cut(matched, 1)
	if !known {
		threshold = max(threshold, score.ThresholdFor(matched, score.MinUnknownPrecision))
	}
	mined.Cut = math.Inf(1)
	var outcomes, kept []score.Outcome
	for i, verdict := range verdicts {
		c := ranked.Candidates[i]
		if verdict != mine.Kept || source.repeated[c.Source] || target.repeated[c.Target] {
			continue
		}
		pair := report.Scored{Source: source.sentence[c.Source], Target: target.sentence[c.Target],
			Score: float64(ranked.Probabilities[i])}
		pair.Correct = gold.has(pair.Source, pair.Target)
		mined.Pairs = append(mined.Pairs, pair)
		outcome := score.Outcome{Probability: ranked.Probabilities[i], True: pair.Correct, Weight: 1}
		outcomes = append(outcomes, outcome)
		if outcome.Probability = adapted.Of(outcome.Probability); float64(outcome.Probability) >= threshold {
			mined.Cut, kept = pair.Score, append(kept, outcome)
		}
	}
	mined.Quality, mined.Kept = score.Measure(outcomes), score.Measure(kept)
	return mined, nil
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
	byMargin thresholded
	last     MinedByScore // of the last half
}

func (s *scoredPair) add(ctx context.Context, r *Runner, half Half, last bool) error {
	s.mine = func(ctx context.Context, searcher index.Searcher, half Half) (Mined, error) {
		mined, err := r.Scoring.Mine(ctx, searcher, r.Strong, half)
		s.last = mined
		s.byMargin.mined = append(s.byMargin.mined, mined.ByMargin)
		return mined.Mined, err
	}
	return s.thresholded.add(ctx, r, half, last)
}

// report adds one row of the margin, the scorer and its cut, and notes the reliability diagram of the reported half.
func (s *scoredPair) report(out *report.Report, pair testset.LanguagePair) {
	s.thresholded.report(out, pair)
	last := len(s.mined) - 1
	mined, q := s.mined[last], s.last.Quality
	margin := ScoreBUCC(s.byMargin.mined[0], s.byMargin.mined[last])
	at := report.Extract(mined.Pairs, mined.Gold, s.last.Cut)
	row := &out.Rows[len(out.Rows)-1]
	best, rest := row.Cells[0], row.Cells[1:]
	row.Cells = append([]any{margin.F1(), best, at.F1(), at.Precision(), at.Recall(), 100 * s.last.Kept.Calibration}, rest...)
	top := q.Bins[len(q.Bins)-1]
	out.Note("%s: of %d pairs given 0.9 to 1.0, %.1f%% are gold; reliability of %d matched pairs (probability: share that is gold, pairs): %s",
		pair, top.Examples, 100*top.True, q.Examples, diagram(q))
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
