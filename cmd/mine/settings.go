package main

import (
	"fmt"
	"reflect"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"bitextmine/pipeline"
	"bitextmine/pipeline/setting"
)

// settings merges the layers of a run's configuration: defaults < --config < MINE_* environment < flags.
type settings struct {
	preset  string
	nightly bool
	flags   *pflag.FlagSet
	bound   []setting.Declared // whose flags the command has
}

// register adds --config, --nightly and the flags of every setting that has one. Every setting can be set by file and
// environment.
func (s *settings) register(cmd *cobra.Command) {
	s.registerSome(cmd, allSettings)
	s.flags.StringVar(&s.preset, "config", "", "a preset's name, or a YAML file")
	s.flags.BoolVar(&s.nightly, "nightly", false, "one night's run: with a lock, a dated bitext, and the preset nightly below --config")
}

// registerSome adds the flags of some settings.
func (s *settings) registerSome(cmd *cobra.Command, some []setting.Declared) {
	s.flags, s.bound = cmd.Flags(), some
	for _, one := range some {
		addFlag(s.flags, one)
	}
}

// declared returns the settings of some keys.
func declared(keys ...string) []setting.Declared {
	some := make([]setting.Declared, len(keys))
	for i, key := range keys {
		var ok bool
		if some[i], ok = find(allSettings, key); !ok {
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

// load returns the configuration and the origin of each of its values, in the order of pipeline.Config.
func (s *settings) load() (*pipeline.Config, []layered, error) {
	var presets []string
	if s.nightly {
		presets = append(presets, "nightly")
	}
	if s.preset != "" {
		presets = append(presets, s.preset)
	}
	return mergeLayers(presets, s.flags, s.bound)
}
