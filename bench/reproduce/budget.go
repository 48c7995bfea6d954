package main

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"bitextmine/internal/badinput"
	"bitextmine/train"
	"bitextmine/train/data"
)

// budget holds the settings that all systems of a table share.
type budget struct {
	name string // file name without its ending
	// Parts are the languages that are trained on together, with English; each part has its own rows and tables.
	Parts [][]string `yaml:"parts"`
	Seeds string     `yaml:"seeds"` // unless the call names some
	// a system of the budget, one seed of which replaces the presets' teacher; if empty, theirs is used
	Teacher string  `yaml:"teacher"`
	Groups  []group `yaml:"groups"`
	// what rows are judged on; src is the part's languages, or those of them that are listed
	Sets   []train.DevSet `yaml:"sets"`
	Choose choice         `yaml:"choose"`
	// overrides settings of every preset, such as the tokenizer, which all systems must share
	Training yaml.Node `yaml:"training"`
	// steps are of the papers' size: their costs are judged, and nothing else
	PaperSize bool        `yaml:"paper_size"`
	Expect    expectation `yaml:"expect"`
	Hidden    hidden      `yaml:"hidden"`
	Hours     float64     `yaml:"hours"` // hours of one core, all rows together
	Needs     string      `yaml:"needs"` // what else the machine must have
	// comparisons that this design cannot decide
	Untested []untestable `yaml:"untested"`
}

// expectation decides beforehand how small an effect the budget can tell: from a pilot, or rows alike.
type expectation struct {
	Differ float64 `yaml:"differ"` // sentences, in percent, that one of two systems gets right and the other wrong
	Spread float64 `yaml:"spread"` // standard deviation over seeds of the difference of two systems, in points
}

// choice is how each system's learning rate is chosen: on other sets than rows are judged on, with a seed of its own.
type choice struct {
	Sets    []train.DevSet `yaml:"sets"`
	Measure string         `yaml:"measure"` // protocol and set; the higher the better
	Seed    uint64         `yaml:"seed"`
}

// untestable is comparisons of any of some systems with another, or without systems all, and why they cannot be
// decided.
type untestable struct {
	Better   []string `yaml:"better"`
	Worse    string   `yaml:"worse"`
	Protocol string   `yaml:"protocol"` // only by this one; empty: by all
	Because  string   `yaml:"because"`
}

// reason is why the budget cannot decide a comparison, or empty.
func (b budget) reason(c comparison) string {
	for _, u := range b.Untested {
		systems := u.Worse == "" || u.Worse == c.worse && slices.Contains(u.Better, c.better)
		if systems && (u.Protocol == "" || u.Protocol == c.protocol) {
			return u.Because
		}
	}
	return ""
}

// group is systems that differ only in their objective.
type group struct {
	Name  string `yaml:"name"`
	Lines int    `yaml:"lines"` // number of lines of each file of the presets' bitext, evenly spread
	Half  int    `yaml:"half"`  // 1: of the files' odd lines; 2: of the even ones; 0: of all
	// a system of an earlier group, from whose checkpoint of the same seed these start (of the teacher, and of a system
	// that has one seed: of that); if empty, new weights
	Start    string    `yaml:"start"`
	Rates    []float64 `yaml:"rates"`    // learning rates from which each system's is chosen; if none, training's
	Training yaml.Node `yaml:"training"` // overrides settings of each preset
	Systems  []system  `yaml:"systems"`
}

// system is a preset, perhaps with some settings changed.
type system struct {
	Name      string         `yaml:"name"`
	Preset    string         `yaml:"preset"` // the name, if it is empty
	Start     string         `yaml:"start"`  // replaces the group's
	Objective map[string]any `yaml:"objective"`
	Training  yaml.Node      `yaml:"training"` // such as how its paper makes a vector of the tokens
	// share of a label, in percent, on the pair itself among the bitext's first pairs, in its order: the teacher's
	// temperature is chosen so. Rows have the share in training's batches
	Own   float64 `yaml:"own_share"`
	Mined *mined  `yaml:"mined"`
	// its one row is of oneSeed: rows of every seed start from it, as those of a paper that fine-tunes one checkpoint
	Once bool `yaml:"once"`
}

// UnmarshalYAML also reads a name alone.
func (s *system) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		s.Name = node.Value
		return nil
	}
	raw, err := yaml.Marshal(node)
	if err != nil {
		return err
	}
	type plain system
	return decode(raw, (*plain)(s)) // node.Decode would take unknown fields
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
	if err := b.validate(); err != nil {
		return b, badinput.Errorf("%s: %w", path, err)
	}
	return b, nil
}

func (b budget) validate() error {
	var known []string
	for _, g := range b.Groups {
		if g.Start != "" && !slices.Contains(known, g.Start) {
			return badinput.Errorf("%s starts from %s, which no earlier group has", g.Name, g.Start)
		}
		for _, s := range g.Systems {
			if slices.Contains(known, s.Name) {
				return badinput.Errorf("the system %s occurs twice", s.Name)
			}
			if s.Start != "" && !slices.Contains(known, s.Start) {
				return badinput.Errorf("%s starts from %s, which no system before it is", s.Name, s.Start)
			}
			if err := s.Mined.validate(known); err != nil {
				return badinput.Errorf("%s: %w", s.Name, err)
			}
			known = append(known, s.Name)
		}
		if g.Lines <= 0 || g.Half < 0 || g.Half > 2 {
			return badinput.Errorf("lines of %s is %d and half %d: lines must be above 0 and half 0, 1 or 2", g.Name, g.Lines, g.Half)
		}
		if len(g.Rates) > 0 && (len(b.Choose.Sets) == 0 || b.Choose.Measure == "") {
			return badinput.Errorf("%s has rates: write choose.sets and choose.measure", g.Name)
		}
	}
	for _, u := range b.Untested {
		if u.Because == "" || (u.Worse == "") != (len(u.Better) == 0) {
			return badinput.Errorf("an entry of untested needs because, and both better and worse or neither")
		}
		for _, system := range append(u.Better, u.Worse) {
			if system != "" && !slices.Contains(known, system) {
				return badinput.Errorf("untested names %s, which is not a system of the budget", system)
			}
		}
		if u.Protocol != "" && !slices.ContainsFunc(b.Sets, func(s train.DevSet) bool { return s.Protocol == u.Protocol }) {
			return badinput.Errorf("untested names %s, which is not the protocol of a set of the budget", u.Protocol)
		}
	}
	switch {
	case len(known) == 0:
		return badinput.Errorf("it names no system")
	case len(b.Parts) == 0 || len(b.Sets) == 0 && !b.PaperSize || b.Seeds == "":
		return badinput.Errorf("it needs parts, sets and seeds")
	case !b.PaperSize && (b.Expect.Differ <= 0 || b.Expect.Spread <= 0 || b.Hours <= 0):
		return badinput.Errorf("it needs expect.differ, expect.spread and hours, so that it can be said beforehand what it can tell")
	case b.Teacher != "" && !slices.Contains(known, b.Teacher):
		return badinput.Errorf("the teacher %s is not a system of the budget", b.Teacher)
	}
	return nil
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
		for _, s := range g.Systems {
			all = append(all, s.Name)
		}
	}
	return all
}

// once says whether a system has one row, of oneSeed.
func (b budget) once(name string) bool {
	_, s, err := b.of(name)
	return name == b.Teacher || err == nil && s.Once
}

// of returns the group of a system, and the system.
func (b budget) of(name string) (group, system, error) {
	for _, g := range b.Groups {
		for _, s := range g.Systems {
			if s.Name == name {
				return g, s, nil
			}
		}
	}
	return group{}, system{}, badinput.Errorf("%s is not a system of the budget %s: use %s", name, b.name, strings.Join(b.systems(), ", "))
}

// preset returns a system's preset with the settings of the budget, its group and its own, on the bitext of a part.
func (b budget) preset(presets string, g group, s system, part []string) (train.Config, error) {
	c, err := train.ReadConfig(filepath.Join(presets, cmp.Or(s.Preset, s.Name)+".yaml"))
	if err != nil {
		return c, err
	}
	for _, settings := range []*yaml.Node{&b.Training, &g.Training, &s.Training} {
		raw, err := yaml.Marshal(settings)
		if err == nil {
			err = decode(raw, &c)
		}
		if err != nil {
			return c, badinput.Errorf("training of %s: %w", s.Name, err)
		}
	}
	if len(s.Objective) > 0 {
		if c.Objective, err = c.Objective.With(s.Objective); err != nil {
			return c, badinput.Errorf("objective of %s: %w", s.Name, err)
		}
	}
	c.Bitext.Sources = slices.DeleteFunc(c.Bitext.Sources, func(s data.Source) bool { return !slices.Contains(part, s.Tgt) })
	c.Name, c.Dev, c.Stop = s.Name, nil, train.DefaultConfig().Stop // no figure chooses a checkpoint
	c.EvalEvery = max(c.Steps/8, 1)                                 // so that a training that was stopped goes on
	if b.PaperSize {
		c.EvalEvery = c.Steps // writing a checkpoint would count as time of a step
	}
	return c, nil
}

// tokenizer returns an error unless all systems of a part have the same tokenizer: a system that starts from another's
// weights with tokens that those never saw is judged for its start.
func (b budget) tokenizer(presets string, part []string) error {
	first, of := "", ""
	for _, g := range b.Groups {
		for _, s := range g.Systems {
			c, err := b.preset(presets, g, s, part)
			if err != nil {
				return err
			}
			raw, err := yaml.Marshal([]any{c.Tokenizer, c.Vocabulary, c.Prefixes})
			if err != nil {
				return err
			}
			if first == "" {
				first, of = string(raw), s.Name
			}
			if first != string(raw) {
				return badinput.Errorf("%s has another tokenizer, vocabulary or prefix than %s in the budget %s: set them once, in training of the budget", s.Name, of, b.name)
			}
		}
	}
	return nil
}

// judged are the sets of a part.
func judged(sets []train.DevSet, part []string) (all []train.DevSet) {
	for _, s := range sets {
		languages := part
		if len(s.Src) > 0 {
			languages = slices.DeleteFunc(slices.Clone(s.Src), func(l string) bool { return !slices.Contains(part, l) })
		}
		if len(languages) == 0 {
			continue
		}
		if s.Src = languages; s.Tgt == "" && s.Protocol != "sts" {
			s.Tgt = "en"
		}
		if s.Protocol == "sts" {
			s.Src = nil
		}
		all = append(all, s)
	}
	return all
}
