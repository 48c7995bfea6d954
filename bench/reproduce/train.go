package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"bitextmine/bench/reproduce/sample"
	"bitextmine/bench/reproduce/statistic"
	"bitextmine/internal/badinput"
	"bitextmine/internal/usage"
	"bitextmine/train"
	"bitextmine/train/data"
	"bitextmine/train/words"
)

// rate is the learning rate of a system: of the group's rates the one with which a training of the choosing seed, on
// the first part, is best on the choosing sets; 0: the group has none.
func (m *maker) rate(ctx context.Context, g group, s system) (rate float64, err error) {
	if len(g.Rates) == 0 {
		return 0, nil
	}
	part := m.budget.Parts[0]
	c, err := m.config(ctx, g, s, part, m.budget.Choose.Seed)
	if err != nil {
		return 0, err
	}
	var all []*result
	var elsewhere error
	for _, tried := range g.Rates {
		c.Optimiser.LearningRate = tried
		r, err := m.tried(ctx, c, part, s.Name, fmt.Sprintf("rate-%g", tried))
		if held(err) { // the other rates need not wait for this one
			elsewhere = err
			continue
		}
		if err != nil {
			return 0, err
		}
		all = append(all, r)
	}
	if elsewhere != nil {
		return 0, elsewhere
	}
	if rate, err = best(all, m.budget.Choose.Measure); err != nil {
		return 0, err
	}
	c.Optimiser.LearningRate, c.Steps = rate, c.Steps/2
	_, err = m.tried(ctx, c, part, s.Name, half)
	return rate, err
}

// best is the rate of the row that is best by a measure, the first of equal ones. Rows on different pairs are refused.
func best(all []*result, name string) (rate float64, err error) {
	most := math.Inf(-1)
	for _, r := range all {
		x, ok := r.of(name)
		if !ok {
			return 0, badinput.Errorf("the sets of choose give no measure %q", name)
		}
		if r.Pairs != all[0].Pairs {
			return 0, badinput.Errorf("`%s` was tried with the rate %g on %d pairs and with %g on %d: give -data the same files as before, and remove the rows of one",
				r.System, all[0].Rate, all[0].Pairs, r.Rate, r.Pairs)
		}
		if x.figure() > most {
			most, rate = x.figure(), r.Rate
		}
	}
	return rate, nil
}

// half is the row of half of the steps with the chosen rate. It says whether differences have settled.
const half = "half"

// tried returns the row of a learning rate or of half of the steps, made unless it exists.
func (m *maker) tried(ctx context.Context, c train.Config, part []string, name, what string) (r *result, err error) {
	dir, file := filepath.Join(m.system(part, name), what), m.file(part, name, what)
	release, err := take(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	digest, err := m.digest(c)
	if err != nil {
		return nil, err
	}
	r, err = read(file)
	if err := errors.Join(err, r.sameAs(digest, file)); err != nil || r != nil {
		return r, err
	}
	return m.try(ctx, c, part, dir, file, name)
}

// try trains with one learning rate and evaluates on the choosing sets.
func (m *maker) try(ctx context.Context, c train.Config, part []string, dir, file, name string) (*result, error) {
	r, err := m.train(ctx, c, dir)
	if err != nil {
		return nil, err
	}
	r.System, r.Seed, r.Rate = name, c.Seed, c.Optimiser.LearningRate
	if err := m.judge.row(ctx, c, judged(m.budget.Choose.Sets, part), part, dir, r); err != nil {
		return nil, err
	}
	r.Seconds = math.Round(usage.CPUSeconds() - r.Seconds)
	fmt.Fprintf(os.Stderr, "%s, %s, rate %g, %d steps: %.2f\n", strings.Join(part, " "), name, r.Rate, r.Steps, r.Measures[0].figure())
	return r, errors.Join(r.write(file), os.RemoveAll(dir))
}

// config returns the complete training preset of a row of a seed, but for a learning rate that is to be chosen. It
// makes the vocabulary, the teacher and the row to start from, unless they exist.
func (m *maker) config(ctx context.Context, g group, s system, part []string, seed uint64) (train.Config, error) {
	if m.budget.Teacher != "" && s.Name != m.budget.Teacher {
		if err := m.make(ctx, part, m.budget.Teacher, oneSeed); err != nil {
			return train.Config{}, err
		}
	}
	start := cmp.Or(s.Start, g.Start)
	if start != "" {
		if err := m.make(ctx, part, start, m.startSeed(start, seed)); err != nil {
			return train.Config{}, err
		}
	}
	c, err := m.budget.preset(m.presets, g, s, part)
	if err != nil {
		return c, err
	}
	c.Seed, c.Bitext.Seed = seed, seed
	if m.steps > 0 {
		c.Steps = m.steps
	}
	if c.Objective.Needs().Teacher != "" && m.budget.Teacher != "" {
		teacher := filepath.Join(m.path(part, m.budget.Teacher, oneSeed), "model")
		if c.Objective, err = c.Objective.With(map[string]any{"teacher": teacher}); err != nil {
			return c, err
		}
	}
	switch {
	case c.Encoder.Kind == "static": // it has its own
	case c.Tokenizer.File != "":
		err = published(ctx, m, &c, part)
	default:
		c.Tokenizer.File, err = m.vocabulary(ctx, part)
	}
	if err != nil {
		return c, err
	}
	if err := sample.Files(c.Bitext.Sources, g.Lines, g.Half, filepath.Join(m.out, "bitext", fmt.Sprintf("%d-%d", g.Lines, g.Half))); err != nil {
		return c, err
	}
	if err := m.bitext(ctx, &c, s, part, seed); err != nil {
		return c, err
	}
	if start != "" {
		if c.Encoder.Start, err = m.start(part, start, m.startSeed(start, seed)); err != nil {
			return c, err
		}
	}
	if s.Own > 0 {
		labels, err := m.judge.teachers.Labels(ctx, c)
		if err != nil {
			return c, err
		}
		if c.Objective, err = c.Objective.With(map[string]any{"teacher_temperature": labels.Soft(s.Own)}); err != nil {
			return c, err
		}
	}
	return c, c.Validate()
}

// unshaped is a preset without the shape that encoder.start determines: the systems' presets state that of the small
// transformers, and budgets let them start from larger ones.
func unshaped(c train.Config) train.Config {
	c.Encoder = c.Encoder.Unshaped()
	return c
}

// vocabulary returns the vocabulary of all rows of a part, trained on the text of the first group. Its name identifies
// its settings, so budgets with the same text share it.
func (m *maker) vocabulary(ctx context.Context, part []string) (path string, err error) {
	g := m.budget.Groups[0]
	c, err := m.budget.preset(m.presets, g, g.Systems[0], part)
	if err != nil {
		return "", err
	}
	c.Tokenizer.File = ""
	settings, err := yaml.Marshal([]any{c.Vocabulary, c.Tokenizer, c.Bitext.Sources, c.Bitext.Exclude, g.Lines, g.Half})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(settings)
	path = filepath.Join(m.out, fmt.Sprintf("vocabulary-%x.model", sum[:4]))
	release, err := await(ctx, path)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, release()) }()
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := sample.Files(c.Bitext.Sources, g.Lines, g.Half, filepath.Join(m.out, "bitext", fmt.Sprintf("%d-%d", g.Lines, g.Half))); err != nil {
		return "", err
	}
	fmt.Fprintln(os.Stderr, "train the vocabulary")
	c.Vocabulary.Lowercase = c.Vocabulary.Lowercase || c.Tokenizer.Lowercase
	return path, words.TrainVocabulary(path, c.Vocabulary, data.Sentences(ctx, c.Bitext))
}

// published gives a preset that starts from published weights those without the pieces that neither the bitext nor the
// test sets have. Their directory's name identifies the text.
func published(ctx context.Context, m *maker, c *train.Config, part []string) (err error) {
	sets := append(judged(m.budget.Sets, part), judged(m.budget.Choose.Sets, part)...)
	bitext := c.Bitext
	bitext.Sources = slices.Concat(bitext.Sources, m.budget.Hidden.Among)
	settings, err := yaml.Marshal([]any{c.Encoder.Start, c.Tokenizer.File, bitext.Sources, bitext.Exclude, sets})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(settings)
	texts := func() (all []string, err error) {
		for text, err := range data.Sentences(ctx, bitext) {
			if err != nil {
				return nil, err
			}
			all = append(all, text)
		}
		for _, s := range sets {
			of, err := textsOf(s)
			if err != nil {
				return nil, err
			}
			all = append(all, of...)
		}
		return all, nil
	}
	dir := filepath.Join(m.out, fmt.Sprintf("%s-%x", filepath.Base(c.Encoder.Start), sum[:4]))
	release, err := await(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(sample.Weights(c, texts, dir), release())
}

// start returns the checkpoint of a finished row.
func (m *maker) start(part []string, system string, seed uint64) (string, error) {
	dir := m.path(part, system, seed)
	found, err := filepath.Glob(filepath.Join(dir, "checkpoints", "step-????????"))
	if err == nil && len(found) != 1 {
		err = badinput.Errorf("%s holds %d checkpoints of %s: remove it, so that it is made again", dir, len(found), system)
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// train trains and exports an encoder.
func (m *maker) train(ctx context.Context, c train.Config, out string) (r *result, err error) {
	digest, err := m.digest(c)
	if err != nil {
		return nil, err
	}
	r = &result{Preset: digest, Vector: vector(c), Steps: c.Steps, Batch: c.Bitext.BatchSize, Seconds: usage.CPUSeconds()}
	// a row that was stopped goes on, if it is this one
	if before, err := train.ReadConfig(filepath.Join(out, "config.yaml")); err == nil {
		was, err := before.Digest()
		now, failed := c.Digest()
		if err = errors.Join(err, failed); err == nil && was != now {
			err = os.RemoveAll(out)
		}
		if err != nil {
			return nil, err
		}
	}
	r.Device, _, _ = strings.Cut(m.device, ":") // a plugin's path says nothing elsewhere
	cached, release, err := m.teacher()
	if err != nil {
		return nil, err
	}
	steps := &statistic.Meter{}
	summary, err := train.Run(ctx, unshaped(c), train.Options{Out: out, Device: m.device, Library: m.library, Teacher: cached,
		Searcher: m.judge.searcher, Resume: true, Progress: steps.Progress})
	if err := errors.Join(err, release()); err != nil {
		return nil, err
	}
	if r.Losses, err = losses(filepath.Join(out, "train.jsonl")); err != nil {
		return nil, err
	}
	if r.Teacher = c.Objective.Needs().Teacher; r.Teacher != "" {
		r.Teacher = cmp.Or(m.budget.Teacher, r.Teacher)
	}
	r.Pairs, r.Step = summary.Stats.Total().Kept, steps.Median()
	return r, nil
}

// teacher reserves a folder for vectors of teachers: one training at a time can use it, so calls that work at the same
// time have one each.
func (m *maker) teacher() (dir string, release func() error, err error) {
	for i := 1; ; i++ {
		dir = filepath.Join(m.out, fmt.Sprintf("teacher-%d", i))
		if release, err = take(dir); !held(err) {
			return dir, release, err
		}
	}
}

// digest identifies what determines a row, wherever OUT is.
func (m *maker) digest(c train.Config) (string, error) {
	c.Dev, c.LogEvery, c.EvalEvery, c.Stop, c.Export = nil, 0, 0, train.Stop{}, train.ExportConfig{}
	text, err := yaml.Marshal(c)
	sum := sha256.Sum256(bytes.ReplaceAll(text, []byte(m.out), []byte("OUT")))
	return hex.EncodeToString(sum[:]), err
}

// vector says how a preset makes a sentence's vector.
func vector(c train.Config) string {
	if c.Encoder.Kind != "transformer" {
		return c.Encoder.Kind
	}
	t := c.Encoder.Transformer
	if t.Projection > 0 {
		return fmt.Sprintf("%s, linear %d", t.Pooling, t.Projection)
	}
	return string(t.Pooling)
}

// losses reads the losses in the first and the last line of a log.
func losses(file string) (of [2]float64, err error) {
	first := true
	return of, sample.Lines(file, 0, func(text string) error {
		var line train.JournalLine
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			return badinput.Errorf("%s: %w", file, err)
		}
		if line.Dev != nil {
			return nil
		}
		if of[1] = line.Loss; first {
			of[0], first = line.Loss, false
		}
		return nil
	})
}
