// Package round alternates mining and training: an encoder mines, its bitext trains the next encoder, and that one
// mines again, as long as it improves.
//
// Round 0 is the initial encoder. It is evaluated, and mines for round 1. Every round has its own directory:
//
//	OUT/round-1/mined       the bitext mined by the previous encoder
//	OUT/round-1/trained     the training on it, with the round's encoder in model/
//	OUT/round-1/round.json  the result, written last: a round that has it is not repeated
//	OUT/work                mining's work directory for all rounds
//	OUT/rounds.tsv, .json   all rounds
package round

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"bitextmine/bitext"
	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/eval/testset"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/score"
	"bitextmine/train"
	"bitextmine/train/data"
)

// Config is the settings of the rounds.
type Config struct {
	Mining      pipeline.Config // settings of every round; Encoder is the first round's
	Training    train.Config    // preset of every round, which starts anew each time
	WithSources bool            // also train on the preset's own sources
	MinScore    *float64        // minimum margin of a mined pair to train on
	MinProb     *float64        // minimum probability of a mined pair to train on
	Rounds      int             // maximum number of rounds
	Metric      string          // the dev figure that a round must raise; if empty, all rounds are made
	Patience    int             // stop after this number of consecutive rounds without a rise
}

// Options are where and how rounds run.
type Options struct {
	Out      string
	Mining   pipeline.Options
	Training train.Options // Out, Resume and Teacher are set for each round
	Done     func(Round)   // called for every round, also for those that were done before; may be nil
}

// Round is the result of a round.
type Round struct {
	Round   int                `json:"round"`
	Mined   int                `json:"mined"`  // pairs that mining kept
	Kept    int                `json:"kept"`   // those of them that were trained on
	Shared  int                `json:"shared"` // those of them that the previous round trained on too
	Steps   int                `json:"steps"`
	Best    int                `json:"best"` // step of the exported encoder
	Dev     map[string]float64 `json:"dev,omitempty"`
	Encoder string             `json:"encoder"` // made by this round
	Key     string             `json:"key"`     // identifies everything that the result depends on
}

// Overlap is the percentage of the round's pairs that the previous round had.
func (r Round) Overlap() float64 { return 100 * float64(r.Shared) / float64(max(1, r.Kept)) }

// Validate reports problems that the checks of mining and training do not report.
func (c Config) Validate() error {
	switch {
	case c.Rounds < 1:
		return badinput.Errorf("rounds is %d: it must be above 0", c.Rounds)
	case c.Patience < 1:
		return badinput.Errorf("patience is %d: it must be above 0", c.Patience)
	case c.MinScore != nil && (math.IsNaN(*c.MinScore) || math.IsInf(*c.MinScore, 0)):
		return badinput.Errorf("min-score is %g: give the least margin of the pairs to train on", *c.MinScore)
	case c.MinProb != nil && !(*c.MinProb >= 0 && *c.MinProb <= 1):
		return badinput.Errorf("min-prob is %g: give a probability from 0 to 1", *c.MinProb)
	case c.MinProb != nil && c.Mining.Scorer == score.None:
		return badinput.Errorf("min-prob needs probabilities, which mining without a scorer gives none of: mine with a scorer, or give min-score")
	case c.Metric != "" && !train.DevGives(c.Training.Dev, c.Metric):
		return badinput.Errorf("the metric %q does not belong to a dev set of the training preset: it must begin with the name of a dev set's protocol", c.Metric)
	}
	return nil
}

// Run makes rounds until the last, or until they no longer improve, and returns all of them. If it was stopped, the
// same call continues.
func Run(ctx context.Context, c Config, o Options) (rounds []Round, reason string, err error) {
	if err := errors.Join(c.Mining.Validate(), c.Validate()); err != nil {
		return nil, "", err
	}
	if err := train.CheckDev(ctx, c.Training.Dev, c.Metric, o.Training.Searcher); err != nil {
		return nil, "", err
	}
	if err := train.CheckDevice(c.Training, o.Training); err != nil { // check before the first mining
		return nil, "", err
	}
	release, err := train.Lock(o.Out)
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, release()) }()
	var before pairs
	encoder, fell := c.Mining.Encoder, 0
	for k := range c.Rounds + 1 {
		r := runner{c, o, filepath.Join(o.Out, fmt.Sprintf("round-%d", k))}
		done, now, err := r.round(ctx, k, encoder, before)
		if err != nil {
			return rounds, "", fmt.Errorf("round %d: %w", k, err)
		}
		fell++
		if c.Metric == "" || helped(rounds, done, c.Metric) {
			fell = 0
		}
		rounds = append(rounds, done)
		if o.Done != nil {
			o.Done(done)
		}
		if err := write(o.Out, rounds); err != nil {
			return rounds, "", err
		}
		if fell >= c.Patience && k < c.Rounds {
			return rounds, fmt.Sprintf("%s has not grown since round %d", c.Metric, k-fell), nil
		}
		before, encoder = now, done.Encoder
	}
	return rounds, "", nil
}

// helped reports whether a round has a higher figure than all earlier ones.
func helped(before []Round, r Round, metric string) bool {
	for _, b := range before {
		if b.Dev[metric] >= r.Dev[metric] {
			return false
		}
	}
	return true
}

// Best is the round with the highest figure, the earlier if several are equal; without a metric it is the last.
func Best(rounds []Round, metric string) Round {
	best := rounds[len(rounds)-1]
	if metric == "" {
		return best
	}
	best = rounds[0]
	for _, r := range rounds[1:] {
		if r.Dev[metric] > best.Dev[metric] {
			best = r
		}
	}
	return best
}

// runner makes one round.
type runner struct {
	config  Config
	options Options
	dir     string
}

const doneFile = "round.json"

// round mines with an encoder and trains the next one, unless both were done before. It returns the pairs that it
// trained on.
func (r *runner) round(ctx context.Context, k int, encoder string, before pairs) (Round, pairs, error) {
	done := Round{Round: k, Encoder: encoder}
	cfg := r.config.Mining
	cfg.Encoder, cfg.Out, cfg.Work = encoder, filepath.Join(r.dir, "mined"), filepath.Join(r.options.Out, "work")
	var err error
	if done.Key, err = r.key(k, cfg); err != nil {
		return done, nil, err
	}
	finished, err := r.finished(&done)
	if err != nil {
		return done, nil, err
	}
	if k == 0 {
		if !finished {
			if done.Dev, err = r.evaluate(ctx, encoder); err == nil {
				err = r.publish(done)
			}
		}
		return done, nil, err
	}
	if !finished {
		if _, err := pipeline.Run(ctx, cfg, r.options.Mining); err != nil {
			return done, nil, err
		}
	}
	now, all, err := r.kept(ctx, bitextOf(cfg))
	if err != nil || finished {
		return done, now, err
	}
	done.Mined, done.Kept, done.Shared = all.pairs, len(now), now.shared(before)
	if done.Kept == 0 {
		return done, nil, badinput.Errorf("none of the %d mined pairs is left%s: lower the minimum score or probability, or mine other text", all.pairs, all.greatest())
	}
	config := r.config.Training
	config.Bitext.Sources = r.sources(bitextOf(cfg))
	o := r.options.Training
	o.Out, o.Resume, o.Teacher = filepath.Join(r.dir, "trained"), true, filepath.Join(r.options.Out, "teacher")
	summary, err := train.Run(ctx, config, o)
	if err != nil {
		return done, nil, err
	}
	done.Steps, done.Best, done.Dev, done.Encoder = summary.Steps, summary.Best, summary.Dev, summary.Model
	return done, now, r.publish(done)
}

// bitextOf is the path of a run's bitext.
func bitextOf(c pipeline.Config) string {
	return filepath.Join(c.Out, c.Source+"-"+c.Target+".parquet")
}

// sources are the bitext that a round trains on.
func (r *runner) sources(mined string) []data.Source {
	source := data.DefaultSource()
	source.Files, source.MinScore, source.MinProb = []string{mined}, r.config.MinScore, r.config.MinProb
	if !r.config.WithSources {
		return []data.Source{source}
	}
	return append([]data.Source{source}, r.config.Training.Bitext.Sources...)
}

// finished reads the result of a round, if it was done before.
func (r *runner) finished(into *Round) (bool, error) {
	path := filepath.Join(r.dir, doneFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	var stored Round
	if err := json.Unmarshal(text, &stored); err != nil {
		return false, badinput.Errorf("%s is not the record of a round (%w): remove it", path, err)
	}
	if stored.Key != into.Key {
		return false, badinput.Errorf("%s has a round of other text, settings or encoders: choose another directory, or remove this one", r.dir)
	}
	stored.Encoder = into.Encoder // the directory may have been moved
	if stored.Round > 0 {
		stored.Encoder = filepath.Join(r.dir, "trained", "model")
	}
	*into = stored
	return true, nil
}

func (r *runner) publish(done Round) error {
	return errors.Join(os.MkdirAll(r.dir, 0o777), atomicfile.WriteJSON(filepath.Join(r.dir, doneFile), done))
}

// evaluate evaluates the initial encoder on the dev sets.
func (r *runner) evaluate(ctx context.Context, encoder string) (figures map[string]float64, err error) {
	if len(r.config.Training.Dev) == 0 {
		return nil, nil
	}
	model, err := model.Load(encoder)
	if err != nil {
		return nil, err
	}
	opened, err := encode.Open(model, encode.Options{Library: r.options.Training.Library})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return train.EvaluateDev(ctx, r.config.Training.Dev, &testset.Embedder{Encoder: opened}, r.options.Training.Searcher)
}

// pairs is a set of pairs, by the keys of both sentences.
type pairs map[[2][16]byte]struct{}

// shared is the number of pairs that are in both sets.
func (p pairs) shared(others pairs) (n int) {
	for pair := range p {
		if _, ok := others[pair]; ok {
			n++
		}
	}
	return n
}

// mined is what a run mined: how many pairs, and the greatest margin and probability of one.
type mined struct {
	pairs       int
	score, prob float64
}

// greatest says what bounds some pair reaches; empty: there is no pair.
func (m mined) greatest() string {
	switch {
	case m.pairs == 0:
		return ""
	case m.prob == 0:
		return fmt.Sprintf(" (the greatest score is %.4g)", m.score)
	}
	return fmt.Sprintf(" (the greatest score is %.4g, the greatest probability %.4g)", m.score, m.prob)
}

// kept reads the mined pairs to train on, and counts those that mining kept.
func (r *runner) kept(ctx context.Context, path string) (_ pairs, all mined, err error) {
	f, err := bitext.Open(path)
	if err != nil {
		return nil, all, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	heldOut, err := data.ReadHeldOut(ctx, r.config.Training.Bitext.Exclude) // which training leaves out
	if err != nil {
		return nil, all, err
	}
	found := pairs{}
	for row, err := range f.Rows(ctx) {
		if err != nil {
			return nil, all, err
		}
		if !row.Keep {
			continue
		}
		all.pairs++
		all.score = max(all.score, float64(row.Score))
		if row.Prob != nil {
			all.prob = max(all.prob, float64(*row.Prob))
		}
		c := r.config
		if c.MinScore != nil && float64(row.Score) < *c.MinScore {
			continue
		}
		// training refuses a file without probabilities
		if c.MinProb != nil && row.Prob != nil && float64(*row.Prob) < *c.MinProb {
			continue
		}
		if data.Among(heldOut, [2]corpus.Key{row.Source.Key, row.Target.Key}) {
			continue
		}
		found[[2][16]byte{row.Source.Key, row.Target.Key}] = struct{}{}
	}
	return found, all, nil
}
