package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/bench/reproduce/statistic"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
	"bitextmine/internal/pjrt"
	"bitextmine/internal/usage"
)

// maker makes the rows in OUT/BUDGET.
type maker struct {
	options
	budget budget
	dir    string
	judge  judge
}

// newMaker makes every path absolute and changes to the data directory, because the presets' file names are relative to
// the working directory.
func newMaker(ctx context.Context, o options, b budget) (*maker, error) {
	if o.data == "" || o.out == "" || len(o.seeds) == 0 {
		return nil, badinput.Errorf("give -data, -out and -seeds")
	}
	for _, part := range b.Parts {
		if err := b.tokenizer(o.presets, part); err != nil {
			return nil, err
		}
	}
	plugin, isPlugin := strings.CutPrefix(o.device, pjrt.Prefix)
	for _, path := range []*string{&o.out, &o.presets, &o.library, &o.mine, &o.rows, &plugin} {
		if *path == "" {
			continue
		}
		full, err := filepath.Abs(*path)
		if err != nil {
			return nil, err
		}
		*path = full
	}
	if isPlugin {
		o.device = pjrt.Prefix + plugin
	}
	for _, system := range o.systems {
		if _, _, err := b.of(system); err != nil {
			return nil, err
		}
	}
	searcher, err := exact.Open(exact.Options{})
	if err != nil {
		return nil, err
	}
	m := &maker{options: o, budget: b, dir: filepath.Join(o.out, b.name), judge: judge{o.library, o.judging, searcher, &statistic.Teachers{Library: o.library}}}
	err = errors.Join(os.MkdirAll(m.dir, 0o777), os.Chdir(o.data))
	if err != nil {
		return nil, err
	}
	if err = b.power(os.Stderr, len(o.seeds), o.rows); err != nil && o.anyway {
		fmt.Fprintln(os.Stderr, err)
		err = nil
	}
	return m, err
}

// oneSeed is the seed of the teacher, and of systems that have one row, which is the same for all rows.
const oneSeed = 1

// makeAll makes all rows of a seed before those of the next seed.
func (m *maker) makeAll(ctx context.Context) error {
	systems := m.systems
	if len(systems) == 0 {
		systems = slices.DeleteFunc(m.budget.systems(), m.budget.once)
	}
	type row struct {
		part   []string
		system string
		seed   uint64
	}
	var left []row
	for _, seed := range m.seeds {
		for _, part := range m.budget.Parts {
			for _, system := range systems {
				left = append(left, row{part, system, seed})
			}
		}
	}
	return each(ctx, left, func(r row) error {
		if err := m.make(ctx, r.part, r.system, r.seed); err != nil {
			return fmt.Errorf("%s, %s, seed %d: %w", strings.Join(r.part, " "), r.system, r.seed, err)
		}
		return nil
	})
}

// path is the directory of a row of a seed.
func (m *maker) path(part []string, system string, seed uint64) string {
	return filepath.Join(m.system(part, system), fmt.Sprintf("seed-%d", seed))
}

func (m *maker) system(part []string, system string) string {
	return filepath.Join(m.dir, strings.Join(part, "-"), system)
}

// file is the file of a row.
func (m *maker) file(part []string, system, seed string) string {
	return rowFile(m.rows, m.budget, part, system, seed)
}

// make makes a row of a seed, and before it the rows that it needs, unless they exist. A row that others start from
// needs its checkpoint, too.
func (m *maker) make(ctx context.Context, part []string, name string, seed uint64) (err error) {
	g, s, err := m.budget.of(name)
	if err != nil {
		return err
	}
	rate, err := m.rate(ctx, g, s) // first: with several calls at work it takes longest
	if err != nil {
		return err
	}
	c, err := m.config(ctx, g, s, part, seed)
	if err != nil {
		return err
	}
	if rate > 0 {
		c.Optimiser.LearningRate = rate
	}
	dir, file := m.path(part, name, seed), m.file(part, name, fmt.Sprintf("seed-%d", seed))
	release, err := take(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	digest, err := m.digest(c)
	if err != nil {
		return err
	}
	there, err := read(file)
	if err := errors.Join(err, there.sameAs(digest, file)); err != nil {
		return err
	}
	needed := name == m.budget.Teacher || slices.ContainsFunc(m.budget.systems(), func(other string) bool {
		_, s, _ := m.budget.of(other)
		return m.budget.start(other) == name || s.Mined != nil && s.Mined.From == name
	})
	if _, err := os.Stat(filepath.Join(dir, "model")); there != nil && (!needed || err == nil) {
		return nil
	}
	r, err := m.train(ctx, c, dir)
	if err != nil || there != nil { // others need only its checkpoint again
		return err
	}
	r.System, r.Seed, r.Rate = name, seed, c.Optimiser.LearningRate
	if err := m.judge.row(ctx, c, judged(m.budget.Sets, part), part, dir, r); err != nil {
		return err
	}
	r.Seconds = math.Round(usage.CPUSeconds() - r.Seconds)
	if err := r.write(file); err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s, %s, seed %d, rate %g: %.0f s of processors, %.0f ms a step", strings.Join(part, " "), name, seed, r.Rate, r.Seconds, 1000*r.Step)
	for _, x := range r.Measures {
		fmt.Fprintf(os.Stderr, ", %s %.2f", x.name(), x.figure())
	}
	fmt.Fprintln(os.Stderr)
	if needed {
		return nil
	}
	return os.RemoveAll(dir)
}

// startSeed is the seed of the row that a row of a seed starts from.
func (m *maker) startSeed(start string, seed uint64) uint64 {
	if m.budget.once(start) {
		return oneSeed
	}
	return seed
}
