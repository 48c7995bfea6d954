// Package flags merges the settings of a run: defaults, presets, the environment and the flags of a command.
package flags

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/setting"
	"bitextmine/score"
)

// Settings merges the layers of a run's configuration: defaults < --config < MINE_* environment < flags.
type Settings struct {
	preset  string
	Nightly bool // --nightly was given: the preset nightly applies before --config
	flags   *pflag.FlagSet
	bound   []setting.Declared // the settings that the command has flags of
	sample  bool               // Load found that the program's sample is all the text, and that nobody named it
}

// Register adds --config, --nightly and the flags of every setting that has one, except those whose name the command
// gives to a flag of its own. Every setting can be set by file and environment.
func (s *Settings) Register(cmd *cobra.Command, except ...string) {
	s.RegisterSome(cmd, slices.DeleteFunc(slices.Clone(All),
		func(d setting.Declared) bool { return slices.Contains(except, d.Key) }))
	s.RegisterPreset()
	s.flags.BoolVar(&s.Nightly, nightlyFlag, false,
		"one night's run: with a lock, a dated bitext, and the preset nightly below --config")
	Output.Add(s.flags, nightlyFlag)
}

// nightlyFlag is a flag of all commands that take every setting, and of no other.
const nightlyFlag = "nightly"

// RegisterSome adds the flags of some settings.
func (s *Settings) RegisterSome(cmd *cobra.Command, some []setting.Declared) {
	s.flags, s.bound = cmd.Flags(), some
	for _, one := range some {
		addFlag(s.flags, one)
	}
}

// RegisterPreset adds --config to a command that has registered some settings.
func (s *Settings) RegisterPreset() {
	s.flags.StringVar(&s.preset, "config", "", "a preset's name, or a YAML file")
	config := s.flags.Lookup("config")
	config.Value = &once{Value: config.Value}
	Machine.AddFirst(s.flags, "config")
}

// Changed reports whether a flag of the command was given.
func (s *Settings) Changed(flag string) bool { return s.flags.Changed(flag) }

// Given returns the flags of the command that were given.
func (s *Settings) Given() (names []string) {
	s.flags.Visit(func(f *pflag.Flag) { names = append(names, f.Name) })
	return names
}

// Declared returns the settings of some keys.
func Declared(keys ...string) []setting.Declared {
	some := make([]setting.Declared, len(keys))
	for i, key := range keys {
		var ok bool
		if some[i], ok = find(All, key); !ok {
			panic("no setting is called " + key)
		}
	}
	return some
}

// Keys are the keys of the settings in T.
func Keys[T any]() (keys []string) {
	for _, s := range setting.List[T]() {
		keys = append(keys, s.Key)
	}
	return keys
}

// addFlag adds the flag of a setting, if it has one. Its default is only shown: values come from the layers.
func addFlag(f *pflag.FlagSet, s setting.Declared) {
	if s.Flag == "" {
		return
	}
	defer place(f, s)
	switch s.Type.Kind() {
	case reflect.String:
		f.String(s.Flag, fmt.Sprint(s.Default), s.Doc)
		if flag := f.Lookup(s.Flag); s.Once {
			flag.Value = &once{Value: flag.Value}
		}
	case reflect.Bool:
		f.Bool(s.Flag, s.Default.(bool), s.Doc)
	case reflect.Int:
		f.Int(s.Flag, s.Default.(int), s.Doc+shownZero(s.Default))
	case reflect.Float64:
		f.Float64(s.Flag, reflect.ValueOf(s.Default).Convert(s.Type).Float(), s.Doc+shownZero(s.Default))
	case reflect.Slice:
		f.StringArray(s.Flag, nil, s.Doc)
	default:
		panic(fmt.Sprintf("setting %s cannot have a flag: it is of type %v", s.Key, s.Type))
	}
}

// once refuses a second value, which would hide the first.
type once struct {
	pflag.Value
	given bool
}

func (o *once) Set(text string) error {
	if o.given {
		return errors.New("it takes one file: join the files")
	}
	o.given = true
	return o.Value.Set(text)
}

// shownZero is how the help shows a default of 0, which pflag leaves out.
func shownZero(value any) string {
	if value == 0 {
		return " (default 0)"
	}
	return ""
}

// Load returns the configuration and the origin of each of its values, in the order of pipeline.Config. With an error
// both are of the settings that are right.
func (s *Settings) Load() (*pipeline.Config, []Layered, error) {
	var presets []string
	if s.Nightly {
		presets = append(presets, "nightly")
	}
	if s.preset != "" {
		presets = append(presets, s.preset)
	}
	cfg, values, err := mergeLayers(presets, s.flags, s.bound)
	s.sample = cfg != nil && config.SampleAlone(cfg) && slices.ContainsFunc(values, func(v Layered) bool { return v.Key == "corpora" && v.Origin == ByDefault })
	if err == nil {
		err = s.refuseUnused(cfg)
	}
	if err == nil && s.flags.Lookup(nightlyFlag) == nil { // commands of a run check all settings together
		err = setting.Refusal(setting.Problems(cfg.Resources))
	}
	return cfg, values, err
}

// Sample reports whether the loaded settings mine the program's sample because no text is named.
func (s *Settings) Sample() bool { return s.sample }

// WarnSample warns of what Sample reports.
func (s *Settings) WarnSample() {
	if s.sample {
		slog.Warn("no text is named, so the program's sample is mined: name yours with --src-text and --tgt-text")
	}
}

// refuseUnused refuses flags of what is off. A config may have the settings for calls that turn it on.
func (s *Settings) refuseUnused(cfg *pipeline.Config) error {
	for _, of := range []struct {
		settings []setting.Declared
		on       bool
		by       string
	}{
		{setting.List[setting.Nights](), s.Nightly, "--nightly"},
		{Declared("command", "command_jobs"), cfg.Engine == "command", "--engine command"},
		{Declared("doc_score", "bead_score"), cfg.Documents == setting.DocumentsOn, "--documents on"},
		{Declared("splitter_threshold"), cfg.Splitter != "", "--splitter"},
		{Declared("emb_dtype"), cfg.EmbDim != 0, "--emb-dim"},
		{Declared("refine_doubt"), cfg.Refine != "", "--refine"},
		{Declared("judge_doubt"), cfg.Judge != "", "--judge"},
		// without a scorer one may be fitted for the margin's threshold
		{Declared("refit"), cfg.Scorer == score.Auto || !cfg.Scored() && cfg.Threshold == setting.AutoThreshold, "--scorer auto"},
	} {
		for _, one := range of.settings {
			if _, bound := find(s.bound, one.Key); bound && !of.on && one.Flag != "" && s.flags.Changed(one.Flag) {
				return badinput.Errorf("--%s says something of %s only: leave it out, or give that, too", one.Flag, of.by)
			}
		}
	}
	return nil
}

// AllHelp is the flag that shows the help of every flag of a command with many.
const AllHelp = "help-all"

// Group is a section of the help of a command with many flags.
type Group string

// The groups of a run's settings.
const (
	TextIn    Group = "Text in"
	Documents Group = "Documents"
	Encoder   Group = "Encoder"
	Search    Group = "Search"
	Decision  Group = "Decision"
	Output    Group = "Output"
	Machine   Group = "Machine"
)

// Groups are the groups of a run's settings in the order of the help.
var Groups = []Group{TextIn, Documents, Encoder, Search, Decision, Output, Machine}

// The annotations that a flag carries to the help.
const (
	groupAnnotation = "mine_group"
	firstAnnotation = "mine_first"
)

// Add puts flags into the group. Only --help-all shows them.
func (g Group) Add(f *pflag.FlagSet, names ...string) { annotate(f, groupAnnotation, string(g), names) }

// AddFirst puts flags into the group that --help shows too.
func (g Group) AddFirst(f *pflag.FlagSet, names ...string) {
	g.Add(f, names...)
	annotate(f, firstAnnotation, "true", names)
}

func annotate(f *pflag.FlagSet, key, value string, names []string) {
	for _, name := range names {
		if err := f.SetAnnotation(name, key, []string{value}); err != nil {
			panic(err) // the command has just registered the flag
		}
	}
}

// GroupOf returns the group of a flag, and whether --help shows it. A flag without a group is in "".
func GroupOf(f *pflag.Flag) (group Group, first bool) {
	if names := f.Annotations[groupAnnotation]; len(names) > 0 {
		group = Group(names[0])
	}
	return group, f.Annotations[firstAnnotation] != nil
}

// placements give the settings their groups by the structs that declare them, and name those that --help shows.
var placements = []struct {
	group    Group
	settings []setting.Declared
	first    []string
}{
	{TextIn, slices.Concat(setting.List[setting.Languages](), setting.List[setting.Input](), setting.List[setting.Many](),
		setting.List[setting.Text](), setting.List[setting.Dividing](), setting.List[setting.Sides]()),
		[]string{"src", "tgt", "src_text", "tgt_text", "langs", "text", "text_column"}},
	{Documents, setting.List[setting.Aligning](), nil},
	{Encoder, slices.Concat(setting.List[setting.Encoding](), setting.List[setting.Refining](),
		setting.List[setting.Given](),
		setting.List[setting.Vectors]()), []string{"encoder", "refine"}},
	{Search, setting.List[setting.Searching](), nil},
	{Decision, slices.Concat(setting.List[setting.Decision](), setting.List[setting.Judging](), setting.List[setting.Checks]()),
		[]string{"scorer", "threshold", "precision"}},
	{Output, slices.Concat(setting.List[setting.Output](), setting.List[setting.Nights]()), []string{"out", "overwrite"}},
	{Machine, slices.Concat(setting.List[setting.Resources](), setting.List[setting.Scheduling]()),
		[]string{"threads", "device"}},
}

// place puts the flag of a setting into its group.
func place(f *pflag.FlagSet, s setting.Declared) {
	for _, p := range placements {
		if _, ok := find(p.settings, s.Key); !ok {
			continue
		}
		if slices.Contains(p.first, s.Key) {
			p.group.AddFirst(f, s.Flag)
		} else {
			p.group.Add(f, s.Flag)
		}
	}
}
