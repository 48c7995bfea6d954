package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"bitextmine/internal/badinput"
	"bitextmine/train"
)

// budget is what all systems of a table have in common.
type budget struct {
	name string // file name without its ending
	// a system of the budget, one seed of which replaces the presets' teacher; if empty, theirs is used
	Teacher string  `yaml:"teacher"`
	Groups  []group `yaml:"groups"`
	// comparisons that this design cannot decide
	Untested []untestable `yaml:"untested"`
}

// untestable is comparisons of any of some systems with another, and why they cannot be decided.
type untestable struct {
	Better  []string `yaml:"better"`
	Worse   string   `yaml:"worse"`
	Because string   `yaml:"because"`
}

// reason is why the budget cannot decide a comparison, or empty.
func (b budget) reason(c comparison) string {
	for _, u := range b.Untested {
		if u.Worse == c.worse && slices.Contains(u.Better, c.better) {
			return u.Because
		}
	}
	return ""
}

// group is systems that differ only in their objective.
type group struct {
	Name  string `yaml:"name"`
	Lines int    `yaml:"lines"` // number of lines of each file of the presets' bitext, evenly spread
	// a system of an earlier group, from whose checkpoint of the same seed these start; if empty, new weights
	Start    string    `yaml:"start"`
	Training yaml.Node `yaml:"training"` // overrides settings of each preset
	Systems  []string  `yaml:"systems"`  // names of presets
}

func readBudget(path string) (budget, error) {
	b := budget{name: strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))}
	raw, err := os.ReadFile(path)
	if err != nil {
		return b, err
	}
	if err := decode(raw, &b); err != nil {
		return b, badinput.Errorf("%s is not a valid budget: %w", path, err)
	}
	var known []string
	for _, g := range b.Groups {
		if g.Start != "" && !slices.Contains(known, g.Start) {
			return b, badinput.Errorf("%s: %s starts from %s, which no earlier group has", path, g.Name, g.Start)
		}
		for _, system := range g.Systems {
			if slices.Contains(known, system) {
				return b, badinput.Errorf("%s: the system %s occurs twice", path, system)
			}
			known = append(known, system)
		}
		if g.Lines <= 0 {
			return b, badinput.Errorf("%s: lines of %s is %d: it must be above 0", path, g.Name, g.Lines)
		}
	}
	if len(known) == 0 {
		return b, badinput.Errorf("%s names no system", path)
	}
	for _, u := range b.Untested {
		for _, system := range append([]string{u.Worse}, u.Better...) {
			if !slices.Contains(known, system) {
				return b, badinput.Errorf("%s: untested names %s, which is not a system of the budget", path, system)
			}
		}
		if u.Because == "" || len(u.Better) == 0 {
			return b, badinput.Errorf("%s: an entry of untested needs better, worse and because", path)
		}
	}
	if b.Teacher != "" && !slices.Contains(known, b.Teacher) {
		return b, badinput.Errorf("%s: the teacher %s is not a system of the budget", path, b.Teacher)
	}
	return b, nil
}

// decode reads YAML into a value. An unknown field is an error.
func decode(raw []byte, over any) error {
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	if err := d.Decode(over); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// systems are all systems of the budget, in order.
func (b budget) systems() (all []string) {
	for _, g := range b.Groups {
		all = append(all, g.Systems...)
	}
	return all
}

// of returns the group of a system.
func (b budget) of(system string) (group, error) {
	for _, g := range b.Groups {
		if slices.Contains(g.Systems, system) {
			return g, nil
		}
	}
	return group{}, badinput.Errorf("%s is not a system of the budget %s: use %s", system, b.name, strings.Join(b.systems(), ", "))
}

// preset returns a system's preset with the settings of the group's budget.
func (g group) preset(presets, system string) (train.Config, error) {
	c, err := train.ReadConfig(filepath.Join(presets, system+".yaml"))
	if err != nil {
		return c, err
	}
	raw, err := yaml.Marshal(&g.Training)
	if err != nil {
		return c, err
	}
	if err := decode(raw, &c); err != nil {
		return c, badinput.Errorf("training of %s: %w", g.Name, err)
	}
	c.Dev, c.EvalEvery, c.Stop = nil, 0, train.DefaultConfig().Stop // no figure chooses a checkpoint
	return c, nil
}
