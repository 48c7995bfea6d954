package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"gopkg.in/yaml.v3"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/eval/vectors"
	"bitextmine/index"
	"bitextmine/index/exact"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/train"
	"bitextmine/train/data"
	"bitextmine/train/dev"
	"bitextmine/train/vocab"
)

// maker makes the rows in OUT/BUDGET.
type maker struct {
	options
	budget   budget
	dir      string
	searcher index.Searcher
}

// newMaker makes every path absolute and changes to the data directory, because the presets' file names are relative to
// the working directory.
func newMaker(o options, b budget) (*maker, error) {
	if o.data == "" || o.out == "" || len(o.seeds) == 0 {
		return nil, badinput.Errorf("give -data, -out and -seeds")
	}
	for _, path := range []*string{&o.out, &o.presets, &o.library, &o.doc} {
		if *path == "" {
			continue
		}
		full, err := filepath.Abs(*path)
		if err != nil {
			return nil, err
		}
		*path = full
	}
	for _, system := range o.systems {
		if _, err := b.of(system); err != nil {
			return nil, err
		}
	}
	searcher, err := exact.Open(exact.Options{})
	if err != nil {
		return nil, err
	}
	m := &maker{options: o, budget: b, dir: filepath.Join(o.out, b.name), searcher: searcher}
	return m, errors.Join(os.MkdirAll(m.dir, 0o755), os.Chdir(o.data))
}

// teacherSeed is the seed of the teacher, which is the same for all rows.
const teacherSeed = 1

// makeAll trains the teacher, and then all rows of a seed before those of the next seed.
func (m *maker) makeAll(ctx context.Context) error {
	systems := m.systems
	if len(systems) == 0 {
		systems = m.budget.systems()
	}
	if teacher := m.budget.Teacher; teacher != "" {
		if err := m.make(ctx, teacher, teacherSeed); err != nil {
			return fmt.Errorf("%s: %w", teacher, err)
		}
		systems = slices.DeleteFunc(slices.Clone(systems), func(s string) bool { return s == teacher })
	}
	for _, seed := range m.seeds {
		for _, system := range systems {
			if err := m.make(ctx, system, seed); err != nil {
				return fmt.Errorf("%s, seed %d: %w", system, seed, err)
			}
		}
	}
	return nil
}

func (m *maker) path(system string, seed uint64) string {
	return filepath.Join(m.dir, system, fmt.Sprintf("seed-%d", seed))
}

// make makes a row of a seed, and before it the row that it starts from, unless they exist.
func (m *maker) make(ctx context.Context, system string, seed uint64) error {
	g, err := m.budget.of(system)
	if err != nil {
		return err
	}
	if g.Start != "" {
		if err := m.make(ctx, g.Start, seed); err != nil {
			return err
		}
	}
	c, err := m.config(ctx, g, system, seed)
	if err != nil {
		return err
	}
	if there, err := m.read(system, seed); err != nil || there != nil {
		return m.sameAs(there, c, err)
	}
	r, err := m.train(ctx, c, m.path(system, seed))
	if err != nil {
		return err
	}
	r.System, r.Seed = system, seed
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.WriteBytes(filepath.Join(m.path(system, seed), resultFile), append(text, '\n')); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s, seed %d: %.1f s, %.1f of them evaluation; %.0f ms of processors a step\n",
		system, seed, r.Training+r.Evaluation, r.Evaluation, 1000*r.Step)
	if slices.ContainsFunc(m.budget.Groups, func(g group) bool { return g.Start == system }) {
		return nil
	}
	return os.RemoveAll(filepath.Join(m.path(system, seed), "checkpoints")) // no row starts from them
}

// config returns the complete training preset of a row of a seed. It needs the vocabulary and the checkpoint to start
// from.
func (m *maker) config(ctx context.Context, g group, system string, seed uint64) (train.Config, error) {
	c, err := g.preset(m.presets, system)
	if err != nil {
		return c, err
	}
	c.Seed, c.Bitext.Seed = seed, seed
	if c.Objective.Needs().Teacher != "" && m.budget.Teacher != "" {
		teacher := filepath.Join(m.path(m.budget.Teacher, teacherSeed), "model")
		if c.Objective, err = c.Objective.With(map[string]any{"teacher": teacher}); err != nil {
			return c, err
		}
	}
	if c.Tokenizer.File, err = m.vocabulary(ctx); err != nil {
		return c, err
	}
	if err := sample(c.Bitext.Sources, g.Lines, filepath.Join(m.out, "bitext", fmt.Sprint(g.Lines))); err != nil {
		return c, err
	}
	if g.Start != "" {
		if c.Encoder.Start, err = m.start(g.Start, seed); err != nil {
			return c, err
		}
	}
	return c, c.Validate()
}

// vocabulary returns the vocabulary of all rows, trained on the text of the first group. Its name identifies its
// settings, so budgets with the same text share it.
func (m *maker) vocabulary(ctx context.Context) (string, error) {
	g := m.budget.Groups[0]
	c, err := g.preset(m.presets, g.Systems[0])
	if err != nil {
		return "", err
	}
	settings, err := yaml.Marshal([]any{c.Vocabulary, c.Tokenizer, c.Bitext.Sources, c.Bitext.Exclude, g.Lines})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(settings)
	path := filepath.Join(m.out, fmt.Sprintf("vocabulary-%x.model", sum[:4]))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if err := sample(c.Bitext.Sources, g.Lines, filepath.Join(m.out, "bitext", fmt.Sprint(g.Lines))); err != nil {
		return "", err
	}
	fmt.Fprintln(os.Stderr, "train the vocabulary")
	c.Vocabulary.Lowercase = c.Vocabulary.Lowercase || c.Tokenizer.Lowercase
	return path, vocab.Train(path, c.Vocabulary, data.Sentences(ctx, c.Bitext))
}

// start returns the checkpoint of a finished row.
func (m *maker) start(system string, seed uint64) (string, error) {
	found, err := filepath.Glob(filepath.Join(m.path(system, seed), "checkpoints", "step-????????"))
	if err == nil && len(found) != 1 {
		err = badinput.Errorf("%s holds %d checkpoints of %s: remove it, so that it is made again", m.path(system, seed), len(found), system)
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}

// train trains and then evaluates the exported encoder.
func (m *maker) train(ctx context.Context, c train.Config, out string) (r *result, err error) {
	digest, err := c.Digest()
	if err != nil {
		return nil, err
	}
	if err := os.RemoveAll(out); err != nil { // a row that was stopped before its result
		return nil, err
	}
	began, steps := time.Now(), &meter{}
	summary, err := train.Run(ctx, c, train.Options{Out: out, Device: "cpu", Library: m.library, Teacher: filepath.Join(m.out, "teacher"),
		Searcher: m.searcher, Progress: steps.progress})
	if err != nil {
		return nil, err
	}
	trained := time.Now()
	taught := c.Objective.Needs().Teacher
	if taught != "" {
		taught = cmp.Or(m.budget.Teacher, taught)
	}
	r = &result{Preset: digest, Steps: c.Steps, Batch: c.Bitext.BatchSize, Pairs: summary.Stats.Total().Kept, Teacher: taught,
		Step: steps.median(), Training: trained.Sub(began).Seconds()}
	err = m.evaluate(ctx, summary.Model, r)
	r.Evaluation = time.Since(trained).Seconds()
	return r, err
}

// evaluate evaluates an exported encoder.
func (m *maker) evaluate(ctx context.Context, dir string, r *result) (err error) {
	model, err := model.Load(dir)
	if err != nil {
		return err
	}
	v, err := tokenizer.OpenIn(dir, model.Tokenizer)
	if err != nil {
		return err
	}
	r.Dim, r.Words = model.Dim, v.Rows()
	v.Close()
	encoder, err := encode.Open(model, encode.Options{Library: m.library})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, encoder.Close()) }()
	found, err := dev.Evaluate(ctx, devs, &vectors.Embedder{Encoder: encoder}, m.searcher)
	if err != nil {
		return err
	}
	r.Figures, err = choose(found)
	return err
}

// choose selects the figures of the tables from those of the devs.
func choose(found map[string]float64) (map[string]float64, error) {
	out := map[string]float64{}
	for _, f := range figures {
		for _, name := range f.of {
			x, ok := found[name]
			if !ok {
				return nil, badinput.Errorf("the test sets give no figure %q: see that DATA has all of them", name)
			}
			out[f.name] += x / float64(len(f.of))
		}
	}
	return out, nil
}
