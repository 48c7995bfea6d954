// Package scorer finds the scorer of a run, fitting one to the text where the program has none for the encoder. It also
// reads what the labels of people say of a finished run: precision by score, and examples that a scorer
// is fitted on.
//
// A label names its pair by the keys of two sentences. It says something of a run if the run's text has both sentences
// and its search found the one near the other; then it has a score. Labels of another run have none.
package scorer

import (
	"context"

	"bitextmine/bitext/label"
	"bitextmine/encode"
	"bitextmine/filter"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/stage/align"
	"bitextmine/pipeline/view"
	"bitextmine/score/calibration"
)

// Count says of how many of a run's labels something is known.
type Count struct {
	Labels  int // labels by people, the last one of each pair
	Present int // the run's text has both sentences, or its documents have them in a bead
	Used    int // the run's search found the pair, too
}

// labelled is a pair of languages with the labels on its sentences, by their numbers.
type labelled struct {
	*view.Pair
	accepted map[[2]int32]bool
}

// among finds the labels whose sentences are in the text of a plan, by pair of languages, and counts them with those of
// beads of several sentences.
func among(ctx context.Context, files *view.Files, labels []label.Label) (pairs []labelled, present int, err error) {
	for i := range files.Plan.Pairs {
		pair, err := files.Pair(i)
		if err != nil {
			return nil, 0, err
		}
		accepted, err := decide.Labels(ctx, pair, labels)
		if err != nil {
			return nil, 0, err
		}
		pairs, present = append(pairs, labelled{pair, accepted}), present+len(accepted)
	}
	for i := 0; i < len(pairs) && present < len(labels); i++ {
		n, err := align.Labelled(ctx, pairs[i].Pair, labels)
		if err != nil {
			return nil, 0, err
		}
		present = min(present+n, len(labels))
	}
	return pairs, present, nil
}

// read reads the labels of a run, by pair of languages. Labels that all name pairs which the run lacks are refused.
func read(ctx context.Context, run *view.Run) (pairs []labelled, count Count, err error) {
	labels, err := label.Latest(run.Dir)
	if err != nil {
		return nil, count, err
	}
	path := label.Path(run.Dir)
	if len(labels) == 0 {
		return nil, count, badinput.Errorf("there is no label in %s: give some with mine reject and mine accept", path)
	}
	count.Labels = len(labels)
	if pairs, count.Present, err = among(ctx, run.Files, labels); err != nil {
		return nil, count, err
	}
	if count.Present == 0 {
		return nil, count, badinput.Errorf("none of the %d labels in %s names a pair of sentences that this run has: they are of another run, so name that one", count.Labels, path)
	}
	return pairs, count, nil
}

// Warn warns if labels of a plan name pairs that its text lacks. They may be of texts that left, and stay.
func Warn(ctx context.Context, files *view.Files, warn func(format string, args ...any)) error {
	labels := files.Plan.Labels
	if len(labels) == 0 {
		return nil
	}
	_, present, err := among(ctx, files, labels)
	if missing := len(labels) - present; err == nil && missing > 0 {
		warn("%d of the %d labels in %s name pairs of sentences that this run does not have; they stay for later runs", missing, len(labels), label.Name)
	}
	return err
}

// Found are labels whose sentences a run has.
type Found struct {
	Missing int // labels of which it has not both
	pairs   []labelled
}

// Find finds the sentences of labels in a run. If it has none of them, that is an error.
func Find(ctx context.Context, run *view.Run, labels []label.Label) (Found, error) {
	pairs, present, err := among(ctx, run.Files, labels)
	if err == nil && present == 0 {
		err = badinput.Errorf("the run in %s has none of the %d pairs of sentences: they are of another run, so name that one", run.Dir, len(labels))
	}
	return Found{len(labels) - present, pairs}, err
}

// LeftOut is how many of the labels are on text that was not translated, which the run's scorer does not see.
func (f Found) LeftOut(ctx context.Context) (n int, err error) {
	for _, pair := range f.pairs {
		some, err := decide.LeftOut(ctx, pair.Pair, pair.accepted)
		if err != nil {
			return 0, err
		}
		n += some
	}
	return n, nil
}

// Scores are the labels of a run with the scores of their pairs, and the scores of all pairs that the run matched
// one-to-one, whatever the threshold: probabilities, or margins where no scorer decides.
type Scores struct {
	Count
	Labels  []calibration.Label
	Matched []float64
	Scorer  bool // the scores are its probabilities
}

// ReadScores decides on the candidates of a run again, from what it stored, and reads its labels. A label on a pair
// that was not matched, as a better one has one of its sentences, says nothing of the matched ones and is not used.
func ReadScores(ctx context.Context, run *view.Run, options encode.Options) (*Scores, error) {
	pairs, count, err := read(ctx, run)
	if err != nil {
		return nil, err
	}
	s := &Scores{Count: count}
	for _, p := range pairs {
		d, err := decide.Pair(ctx, p.Pair, run.Model, options)
		if err != nil {
			return nil, err
		}
		s.add(p, d)
		if err := d.Close(); err != nil {
			return nil, err
		}
	}
	s.Used = len(s.Labels)
	if s.Used == 0 {
		return nil, badinput.Errorf("none of the %d labels in %s is on a pair that the run matched: label rows of its bitext",
			s.Count.Labels, label.Path(run.Dir))
	}
	return s, nil
}

// add adds what was decided on a pair of languages.
func (s *Scores) add(p labelled, d *decide.Decision) {
	s.Scorer = d.Scorer != nil
	for i, c := range d.Candidates {
		score := float64(c.Score)
		if s.Scorer {
			score = float64(d.Probabilities[i])
		}
		matched := d.Verdicts[i] == mine.Kept || d.Verdicts[i] == mine.BelowThreshold
		if matched {
			s.Matched = append(s.Matched, score)
		}
		accepted, ok := p.accepted[[2]int32{c.Source, c.Target}]
		// A pair that people rejected was matched when they saw it.
		if rejected := d.Rejections != nil && d.Rejections[i]&filter.Label != 0; ok && (matched || rejected) {
			s.Labels = append(s.Labels, calibration.Label{Score: score, Accepted: accepted})
		}
	}
}
