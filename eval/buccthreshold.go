package eval

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"bitextmine/corpus"
	"bitextmine/eval/report"
	"bitextmine/eval/testset"
	"bitextmine/index"
	"bitextmine/mine"
	"bitextmine/score"
	"bitextmine/score/fit"
	"bitextmine/score/inject"
)

// thresholdColumns are the figures of a protocol with a threshold.
var thresholdColumns = []report.Column{
	{Name: "f1", Kind: report.Percentage}, {Name: "precision", Kind: report.Percentage}, {Name: "recall", Kind: report.Percentage},
	{Name: "threshold", Kind: report.Threshold}, {Name: "threshold_half", Kind: report.Text}, {Name: "half", Kind: report.Text},
	{Name: "source", Kind: report.Count}, {Name: "target", Kind: report.Count}, {Name: "gold", Kind: report.Count},
	{Name: "candidates", Kind: report.Count}, {Name: "extracted", Kind: report.Count}, {Name: "correct", Kind: report.Count},
}

// thresholded measures a pair with a protocol that finds its threshold on the first half and is reported on the last.
type thresholded struct {
	mine           Miner
	score          func(tune, reported Mined) BUCCScore
	mined          []Mined // mined pairs of each half
	source, target int     // number of sentences in the reported half
	gold           [][2]int32
	reported       *Half // reported half, with its texts if the caller wants its pairs
}

func (t *thresholded) add(ctx context.Context, r *Runner, half Half, last bool) error {
	mined, err := t.mine(ctx, r.Searcher, half)
	t.mined = append(t.mined, mined)
	t.source, t.target, t.gold = len(half.Source.Texts), len(half.Target.Texts), half.Gold
	if last && r.KeepPairs {
		t.reported = &half
	}
	return err
}

func (t *thresholded) report(out *report.Report, pair testset.LanguagePair) {
	s := t.score(t.mined[0], t.mined[len(t.mined)-1])
	if len(t.mined) == 1 {
		out.Note("%s has only its %s half: the threshold was found on the reported half", pair, s.ReportHalf)
	}
	out.Rows = append(out.Rows, report.Row{Name: pair.String(), Cells: []any{
		s.F1(), s.Precision(), s.Recall(), s.Threshold, s.ThresholdHalf, s.ReportHalf,
		t.source, t.target, s.Gold, s.Candidates, s.Extracted, s.Correct,
	}, Items: t.items(s.Threshold)})
	out.Pairs = append(out.Pairs, t.pairs(pair.String(), s.Threshold)...)
	out.Curves = append(out.Curves, report.Curve{Name: pair.String(), Points: s.Curve})
}

// items are the numbers of extracted, correct and gold pairs of the reported half by groups of its sources.
func (t *thresholded) items(threshold float64) [][]float64 {
	const groups = 1000
	out := [][]float64{make([]float64, groups), make([]float64, groups), make([]float64, groups)}
	for _, p := range t.mined[len(t.mined)-1].Pairs {
		if p.Score >= threshold {
			out[0][p.Source%groups]++
			if p.Correct {
				out[1][p.Source%groups]++
			}
		}
	}
	for _, g := range t.gold {
		out[2][g[0]%groups]++
	}
	return out
}

// pairs are the pairs of the reported half that were extracted, best first, and then those of the gold that were not.
func (t *thresholded) pairs(name string, threshold float64) []report.Pair {
	if t.reported == nil {
		return nil
	}
	var out []report.Pair
	found := pairSet{}
	for _, p := range t.mined[len(t.mined)-1].Pairs {
		if p.Score < threshold {
			continue
		}
		found[[2]int32{p.Source, p.Target}] = struct{}{}
		kind := report.Wrong
		if p.Correct {
			kind = report.Correct
		}
		out = append(out, t.pair(name, kind, p.Score, p.Source, p.Target))
	}
	for _, g := range t.reported.Gold {
		if !found.has(g[0], g[1]) {
			out = append(out, t.pair(name, report.Missed, 0, g[0], g[1]))
		}
	}
	return out
}

func (t *thresholded) pair(name, kind string, score float64, s, u int32) report.Pair {
	source, target := t.reported.Source.Side, t.reported.Target.Side
	return report.Pair{Set: name, Kind: kind, Score: score, Source: source.Texts[s], Target: target.Texts[u], IDs: [2]string{source.IDs[s], target.IDs[u]}}
}

// BUCCCosine is the BUCC measure of VMSST by cosine only (Wieting et al. 2023), which the paper calls "BUCC (c.)".
var BUCCCosine = &Protocol{
	Name: "bucc-cosine",
	Definition: [2]string{
		"Each source sentence with its nearest target by cosine, no margin, targets may repeat; over distinct texts; a text that occurs twice on its side is excluded.",
		"Threshold on the cosine: best F1 on the train half, midpoint to the next score. Report: pairs of the test half, or of the only one, with cosine >= threshold.",
	},
	Columns: thresholdColumns,
	Sampled: "f1",
	Dataset: "bucc2018",
	bucc:    func() buccMeasure { return &thresholded{mine: MineBUCCCosine, score: ScoreByThreshold} },
}

// MineBUCCCosine pairs every source text with its nearest target text.
func MineBUCCCosine(ctx context.Context, searcher index.Searcher, half Half) (Mined, error) {
	source, target := arrange(half.Source, true), arrange(half.Target, true)
	found, err := searcher.Search(ctx, index.Side{Vectors: source.rows}, index.Side{Vectors: target.rows}, 1, nil)
	if err != nil {
		return Mined{}, err
	}
	gold := newPairSet(half.Gold)
	var pairs []report.Scored
	for row, s := range source.sentence {
		ids, cosines := found.Source.Row(row)
		if source.repeated[row] || target.repeated[ids[0]] {
			continue
		}
		t := target.sentence[ids[0]]
		pairs = append(pairs, report.Scored{Source: s, Target: t, Score: float64(cosines[0]), Correct: gold.has(s, t)})
	}
	// pairs with equal scores stay in key order
	slices.SortStableFunc(pairs, func(a, b report.Scored) int { return cmp.Compare(b.Score, a.Score) })
	return Mined{Half: half.Name, Pairs: pairs, Gold: len(gold)}, nil
}

// BUCCLaser is the BUCC measure of LASER's tasks/bucc (Artetxe & Schwenk 2019).
var BUCCLaser = &Protocol{
	Name: "bucc-laser",
	Definition: [2]string{
		"Pairs mined one-to-one by ratio margin (k = 4, max retrieval) over distinct texts; a text that occurs twice on its side is excluded, gold is not filtered.",
		"Threshold: best F1 on the train half, midpoint to the next score. Report: pairs of the test half, or of the only one, with score >= threshold.",
	},
	Columns: thresholdColumns,
	Sampled: "f1",
	Dataset: "bucc2018",
	bucc:    func() buccMeasure { return &thresholded{mine: MineBUCCLaser, score: ScoreBUCC} },
}

// MineBUCCLaser returns the pairs that LASER's mine_bitexts --unify --retrieval max --margin ratio -k 4 writes and that
// bucc.py evaluates. Texts are unified by their stripped form. The reference unifies raw lines, so there a trailing
// blank makes a sentence its own second neighbour.
func MineBUCCLaser(ctx context.Context, searcher index.Searcher, half Half) (Mined, error) {
	return mineByRatio(ctx, searcher, half, true, 0)
}

// mineByRatio mines a half one-to-one by ratio margin, pairs with a score above floor. With unify, sentences with the
// same text are one, and pairs of texts that repeat are left out.
func mineByRatio(ctx context.Context, searcher index.Searcher, half Half, unify bool, floor float64) (Mined, error) {
	source, target := arrange(half.Source, unify), arrange(half.Target, unify)
	lists, err := neighbours(ctx, searcher, source.rows, target.rows, laserNeighbours)
	if err != nil {
		return Mined{}, err
	}
	var keep func(source, target int32) bool
	if unify {
		keep = source.unique(target)
	}
	gold := newPairSet(half.Gold)
	return Mined{Half: half.Name, Pairs: maxPairs(lists.Candidates(), source, target, gold, floor, keep), Gold: len(gold)}, nil
}

// BUCCST is the BUCC measure of sentence-transformers' example bucc2018.py (Reimers & Gurevych 2020).
var BUCCST = &Protocol{
	Name: "bucc-st",
	Definition: [2]string{
		"Pairs mined one-to-one by ratio margin (k = 4, max retrieval) over all sentences, including repeated texts, with score >= 1.",
		"Threshold: best F1 on the train half, evaluated only at correct pairs. The example itself searches by IVF by default.",
	},
	Columns: thresholdColumns,
	Sampled: "f1",
	Dataset: "bucc2018",
	bucc:    func() buccMeasure { return &thresholded{mine: MineBUCCST, score: ScoreBUCCST} },
}

// MineBUCCST returns the example's bitext_list. The example computes F1 only at correct pairs, which changes nothing
// because a wrong pair never raises F1. With only one half, the example prints the best point of the curve, and so does
// ScoreBUCCST.
func MineBUCCST(ctx context.Context, searcher index.Searcher, half Half) (Mined, error) {
	return mineByRatio(ctx, searcher, half, false, float64(math.Nextafter32(1, 0))) // score >= 1
}

// ScoreBUCCST is ScoreBUCC, but with only one half it reports the best point itself without extracting again.
func ScoreBUCCST(tune, reported Mined) BUCCScore {
	score := ScoreBUCC(tune, reported)
	if tune.Half == reported.Half {
		score.Threshold, score.Counts = report.BestThreshold(score.Curve)
	}
	return score
}

// BUCCScored is this project's own protocol: BUCC's sets with a learned probability instead of the margin.
var BUCCScored = &Protocol{
	Name: "bucc-scored",
	Definition: [2]string{
		"Pairs matched one-to-one by a scorer's probability over the k neighbours of both sides; a text that occurs twice on its side is excluded, gold is not filtered.",
		"f1, precision, recall: at the threshold of the best F1 on the train half. cut: as mine run cuts, without gold, and calibration_error: of the pairs that it keeps. margin_f1: best F1 of the ratio margin, of bucc-laser where k = 4. Not comparable with other protocols.",
	},
	Columns: scoredColumns,
	Sampled: "f1",
	Dataset: "bucc2018",
	Scorer:  true,
	bucc:    func() buccMeasure { return &scoredPair{thresholded: thresholded{score: ScoreByThreshold}} },
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
	Encoder string // digest
	// Languages are the encoder's languages: for others, probabilities follow the share of translations alone.
	Languages []string
}

// MinedByScore is the pairs of a half that a run with the scorer would match.
type MinedByScore struct {
	Mined
	ByMargin Mined         // the pairs of the ratio margin over the same neighbours
	Cut      float64       // the probability from which a run keeps pairs
	Kept     score.Quality // quality of these, by the probabilities adapted to the text
	// Quality measures the probabilities: a matched pair is true if it is gold, even if a reader would accept others.
	Quality score.Quality
}

// Mine matches the pairs of a half. strong is the strong encoder of a scorer of two-stage mining, otherwise nil.
func (s *Scoring) Mine(ctx context.Context, searcher index.Searcher, strong *inject.Strong, half Half) (mined MinedByScore, err error) {
	source, target := arrange(half.Source, true), arrange(half.Target, true)
	lists, err := neighbours(ctx, searcher, source.rows, target.rows, s.Scorer.K)
	if err != nil {
		return mined, err
	}
	texts := score.Texts{source.texts(half.Source), target.texts(half.Target)}
	languages := [2]string{half.Source.Language, half.Target.Language}
	problem := score.Problem{Languages: languages, Lists: lists, Tokens: s.Tokens, Threads: s.Threads, Read: texts.Read}
	if strong != nil {
		problem.Strong = newStrongOn(strong, half, source, target).of
	}
	scorer, known := s.Scorer.For(s.Encoder, corpus.Lists(s.Languages, half.Source.Language) && corpus.Lists(s.Languages, half.Target.Language))
	ranked, err := problem.Apply(ctx, scorer)
	if err != nil {
		return mined, err
	}
	if known {
		if _, err = fit.ToText(&ranked, source.rows.N, target.rows.N, texts.Of); err != nil {
			return mined, err
		}
	}
	gold := newPairSet(half.Gold)
	mined.Mined = Mined{Half: half.Name, Gold: len(gold)}
	mined.ByMargin = mined.Mined
	mined.ByMargin.Pairs = maxPairs(lists.Candidates(), source, target, gold, 0, source.unique(target))
	verdicts := ranked.Match(source.rows.N, target.rows.N)
	matched := ranked.Matched(verdicts)
	adapted, err := ranked.Adapt(verdicts, ranked.Scorer().PriorOf(len(ranked.Candidates), len(matched)), known)
	if err != nil {
		return mined, err
	}
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
	last     MinedByScore // result of the last half
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
