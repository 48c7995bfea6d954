// Package flags merges the settings of a run: defaults, presets, the environment and the flags of a command.
package flags

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bitextmine/pipeline"
	"bitextmine/pipeline/setting"
)

// Settings merges the layers of a run's configuration: defaults < --config < MINE_* environment < flags.
type Settings struct {
	preset  string
	Nightly bool // --nightly was given: the preset nightly applies before --config
	flags   *pflag.FlagSet
	bound   []setting.Declared // the settings that the command has flags of
}

// Register adds --config, --nightly and the flags of every setting that has one, except those whose name the command
// gives to a flag of its own. Every setting can be set by file and environment.
func (s *Settings) Register(cmd *cobra.Command, except ...string) {
	s.RegisterSome(cmd, slices.DeleteFunc(slices.Clone(All),
		func(d setting.Declared) bool { return slices.Contains(except, d.Key) }))
	s.RegisterPreset()
	s.flags.BoolVar(&s.Nightly, "nightly", false,
		"one night's run: with a lock, a dated bitext, and the preset nightly below --config")
	Output.Add(s.flags, "nightly")
}

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

// addFlag adds the flag of a setting, if it has one. Its default is only shown: values come from the layers.
func addFlag(f *pflag.FlagSet, s setting.Declared) {
	if s.Flag == "" {
		return
	}
	defer place(f, s)
	switch s.Type.Kind() {
	case reflect.String:
		f.String(s.Flag, fmt.Sprint(s.Default), s.Doc)
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

// shownZero is how the help shows a default of 0, which pflag leaves out.
func shownZero(value any) string {
	if value == 0 {
		return " (default 0)"
	}
	return ""
}

// Load returns the configuration and the origin of each of its values, in the order of pipeline.Config.
func (s *Settings) Load() (*pipeline.Config, []Layered, error) {
	var presets []string
	if s.Nightly {
		presets = append(presets, "nightly")
	}
	if s.preset != "" {
		presets = append(presets, s.preset)
	}
	return mergeLayers(presets, s.flags, s.bound)
}
