package decide

import (
	"context"
	"errors"
	"fmt"
	"math"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spill"
	"bitextmine/mine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/view"
	"bitextmine/score"
)

const (
	// fewSentences is how many sentences a side should have, at least, for the share of translations to be estimated.
	fewSentences = 200
)

// cut adapts the probabilities of ranked candidates to the text, finds the threshold where it is not given, and rejects
// what the rules reject above it. A rejected pair leaves its sentences to others, so all of that is done again until no
// more pair is rejected.
func (p *decider) cut(ctx context.Context, d *Decision) error {
	scored, err := spill.Make[float32](p.Room(), len(d.Probabilities))
	if err != nil {
		return err
	}
	copy(scored, d.Probabilities)
	rejecting, err := p.newRejecting(ctx, d)
	if err != nil {
		return err
	}
	for more := true; more; {
		d.Verdicts = d.Match(p.Sentences[0].Len(), p.Sentences[1].Len())
		copy(d.Probabilities, scored)
		matched := d.Matched(d.Verdicts)
		prior := d.Scorer.PriorOf(len(d.Candidates), len(matched))
		adapted, err := p.adapt(d, d.Verdicts, prior)
		if err != nil {
			return err
		}
		for i, probability := range scored {
			d.Probabilities[i] = adapted.Of(probability)
		}
		for i, probability := range matched {
			matched[i] = adapted.Of(probability)
		}
		adapted.Pairs = score.Sum(matched)
		p.threshold(d, matched)
		d.Cut = p.report(d, adapted, prior, matched)
		if more, err = rejecting.next(ctx, d); err != nil {
			return err
		}
	}
	d.Kept = d.Ranked.Cut(d.Verdicts, d.Threshold)
	return nil
}

// adapted adapts the candidates' probabilities to the text, by those that are matched one-to-one.
func adapted(p *decider, d *Decision) (*score.Adapted, error) {
	verdicts := d.Match(p.Sentences[0].Len(), p.Sentences[1].Len())
	return p.adapt(d, verdicts, d.Scorer.PriorOf(len(d.Candidates), len(d.Matched(verdicts))))
}

// adapt adapts the probabilities of matched pairs to the text, which those of two-stage mining are already.
func (p *decider) adapt(d *Decision, verdicts []mine.Verdict, prior float64) (*score.Adapted, error) {
	if p.weighed {
		return score.Settled(d.Matched(verdicts)), nil
	}
	return d.Adapt(verdicts, prior, p.known)
}

// threshold finds the threshold of the matched pairs' probabilities, best first, unless it is given.
func (p *decider) threshold(d *Decision, matched []float32) {
	s := p.Plan.Settings
	switch {
	case s.FindsThreshold(): // a threshold of the margin, found by all probabilities
		d.Threshold = minTold
		return
	case s.Precision > 0:
		d.Threshold = score.ThresholdFor(matched, s.Precision)
	case s.Cut != "":
		d.Threshold = score.Cut(matched, p.beta())
	default:
		d.Threshold = s.Threshold
		return
	}
	if !p.known {
		d.Threshold = max(d.Threshold, score.ThresholdFor(matched, score.MinUnknownPrecision))
	}
}

// beta is the weight of recall in the F-beta that is maximised.
func (p *decider) beta() float64 { return setting.Cuts[p.cutName()] }

// cutName names what the threshold is found for.
func (p *decider) cutName() string {
	switch s := p.Plan.Settings; {
	case s.Precision > 0:
		return fmt.Sprintf("precision %g", s.Precision)
	case s.Cut != "":
		return s.Cut
	case s.FindsThreshold():
		return setting.DefaultCut
	default:
		return fmt.Sprintf("threshold %g", s.Threshold)
	}
}

// share is the part of the smaller side's sentences that so many translations take.
func share(p *view.Pair, translations float64) float64 {
	return translations / float64(max(1, min(p.Sentences[0].Len(), p.Sentences[1].Len())))
}

// report says how the cut came about.
func (p *decider) report(d *Decision, adapted *score.Adapted, prior float64, matched []float32) *record.CutReport {
	r := &record.CutReport{Name: p.cutName(), By: adapted.By, Pairs: adapted.Pairs, Share: share(p.Pair, adapted.Pairs)}
	kept := 0
	for kept < len(matched) && float64(matched[kept]) >= d.Threshold {
		kept++
	}
	r.Precision, r.Recall = expected(matched[:kept], adapted.Pairs, p.known)
	assume := func(format string, args ...any) { r.Assumed = append(r.Assumed, fmt.Sprintf(format, args...)) }
	if d.Scorer.Prior <= 0 && adapted.By != score.ByScorer {
		assume("the scorer's file does not say what share of translations it expects: %g of the matched pairs", prior)
	}
	if adapted.By == score.ByScorer {
		assume("%d matched pairs are too few to estimate the share of translations: the scorer's probabilities stand", len(matched))
	} else if smaller := min(p.Sentences[0].Len(), p.Sentences[1].Len()); smaller < fewSentences {
		assume("%d sentences are few: the share of translations is a rough estimate", smaller)
	}
	if right, many := d.ManyNearMisses(); many {
		assume("many sentences are near misses of a translation, with another number or a negation for example: %.0f%% of the pairs that look right are taken to be right", 100*right)
	}
	if p := p.Plan.Settings.Precision; p > 0 && kept == 0 && len(matched) > 0 {
		assume("no pair is surer than %.3g, so that a precision of %g keeps none: ask for a lower one", matched[0], p)
	}
	if d.Cosines != nil && d.Scorer.Refined == nil {
		assume("too few pairs are in doubt to learn from what the strong encoder says: the first encoder decides alone")
	}
	if !p.known {
		assume("the encoder does not know one of the languages: pairs are kept for an expected precision of at least %g, and more sentences have translations than it can tell",
			score.MinUnknownPrecision)
	}
	return r
}

// minTold is the probability below which a pair tells nothing of a threshold: its text is not even read.
const minTold = 0.05

// scorerFor reads the plan's scorer for the pair's languages, and notes whether it knows them.
func scorerFor(p *decider) (*score.Scorer, error) {
	scorer, err := planScorer(p.Pair)
	if err != nil {
		return nil, err
	}
	scorer, p.known = scorer.For(p.model.Digest, p.known)
	return scorer, nil
}

// Way is what the decision about a pair depends on that no digest has.
type Way struct {
	Unknown bool `json:",omitempty"` // what the scorer has for unknown languages decides
	ByRatio bool `json:",omitempty"` // the scorer reads ratios, and the margin is another
}

// WayOf returns the way in which a plan's scorer, if it has one, decides about a pair, with an encoder whose manifest
// lists these languages.
func WayOf(scorer *score.Scorer, p *plan.Plan, pair int, languages []string) Way {
	way := Way{ByRatio: p.Settings.Scorer != "" && p.Settings.Margin != string(mine.Ratio)}
	if scorer != nil {
		_, known := scorer.For(p.Settings.Encoder, listed(languages, [2]string{p.Side(pair, 0).Code, p.Side(pair, 1).Code}))
		way.Unknown = !known
	}
	return way
}

// listed says whether an encoder that lists languages lists both of a pair.
func listed(languages []string, pair [2]string) bool {
	return corpus.Lists(languages, pair[0]) && corpus.Lists(languages, pair[1])
}

// planScorer reads the plan's scorer.
func planScorer(p *view.Pair) (*score.Scorer, error) {
	scorer, err := score.Decode(p.Plan.Scorer)
	if err != nil {
		err = badinput.Errorf("the plan's scorer: %w; make the plan again with mine run", err)
	}
	return scorer, err
}

// findThreshold finds the threshold of the margin whose pairs have the best expected F-beta by the probabilities of the
// plan's scorer.
func (p *decider) findThreshold(ctx context.Context, d *Decision) error {
	if p.Plan.Settings.Scorer == "" {
		p.separate(d)
		return nil
	}
	scorer, err := scorerFor(p)
	if err != nil {
		return err
	}
	told := &Decision{Scorer: scorer, Threshold: minTold}
	if err := errors.Join(p.scorer(ctx, told), told.Close()); err != nil {
		return err
	}
	probabilities, rejected := map[[2]int32]float32{}, map[[2]int32]bool{}
	for i, c := range told.Candidates {
		pair := [2]int32{c.Source, c.Target}
		if c.Rejected {
			rejected[pair] = true
		} else if told.Probabilities[i] >= minTold {
			probabilities[pair] = told.Probabilities[i]
		}
	}
	copies, err := copiesOf(ctx, p.Pair)
	if err != nil {
		return err
	}
	for _, pair := range copies { // they are candidates of the margin alone
		rejected[pair] = true
	}
	candidates := d.Lists.Candidates()
	for i := range candidates {
		candidates[i].Rejected = rejected[[2]int32{candidates[i].Source, candidates[i].Target}]
	}
	var margins, of []float32
	for _, c := range p.matched(candidates) {
		margins, of = append(margins, c.Score), append(of, probabilities[[2]int32{c.Source, c.Target}])
	}
	d.Cut = told.Cut
	p.marginCut(d, margins, of, told.Cut.Pairs)
	return nil
}

// marginCut finds the threshold of matched pairs, best margin first, whose probabilities are known. translations is the
// number of translations in all.
func (p *decider) marginCut(d *Decision, margins, probabilities []float32, translations float64) {
	d.Threshold = score.BestExpected(margins, probabilities, translations, p.beta())
	if !p.known {
		d.Threshold = max(d.Threshold, score.MarginFor(margins, probabilities, score.MinUnknownPrecision))
	}
	kept := 0
	for kept < len(margins) && float64(margins[kept]) > d.Threshold {
		kept++
	}
	d.Cut.Name, d.Cut.Pairs = p.cutName(), translations
	d.Cut.Precision, d.Cut.Recall = expected(probabilities[:kept], translations, p.known)
}

// expected is the precision and recall of kept pairs among so many translations; a recall of 0 cannot be told, as where
// the encoder does not know a language: its probabilities hardly see most translations.
func expected(kept []float32, translations float64, known bool) (precision, recall float64) {
	if precision, recall = score.Expected(kept, translations); !known {
		recall = 0
	}
	return precision, recall
}

// separate finds the threshold of the margin whose pairs have the best F-beta where nothing is known but the margins.
// Where their distribution does not tell translations from other pairs, it is LASER's.
func (p *decider) separate(d *Decision) {
	var margins []float32
	for _, c := range p.matched(d.Lists.Candidates()) {
		margins = append(margins, c.Score)
	}
	probabilities, ok := score.MarginProbabilities(margins)
	if !ok {
		d.Threshold = setting.LASERThreshold
		return
	}
	expected := 0.0
	for _, probability := range probabilities {
		expected += float64(probability)
	}
	d.Cut = &record.CutReport{By: score.ByMargins, Share: share(p.Pair, expected)}
	p.marginCut(d, margins, probabilities, expected)
}

// matched are the pairs that the margin matches, without a threshold, best first.
func (p *decider) matched(candidates []mine.Candidate) []mine.Candidate {
	retrieval := mine.Retrieval(p.Plan.Settings.Retrieval)
	return mine.Pairs(candidates, p.Sentences[0].Len(), p.Sentences[1].Len(), retrieval, math.Inf(-1))
}
