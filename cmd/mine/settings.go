package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"

	"bitextmine/configs"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
)

// settings merges the layers of a run's configuration: defaults < --config < MINE_* environment < flags.
type settings struct {
	preset  string
	nightly bool
	flags   *pflag.FlagSet
}

// register adds --config and one flag per setting that is set often; every setting can be set by file and environment.
func (s *settings) register(cmd *cobra.Command) {
	f := cmd.Flags()
	s.flags = f
	f.StringVar(&s.preset, "config", "", "a preset's name, or a YAML file")
	f.BoolVar(&s.nightly, "nightly", false, "one night's run: with a lock, a dated bitext, and the preset nightly below --config")
	f.String("src", "", "source language code")
	f.String("tgt", "", "target language code")
	f.StringArray("src-text", nil, "source text: files, directories or globs")
	f.StringArray("tgt-text", nil, "target text: files, directories or globs")
	f.String("gold", "", "known pairs (id<TAB>id) to compare the bitext with")
	f.String("out", "", "output directory")
	f.String("work", "", "directory of intermediate files (default OUT/work)")
	f.Bool("overwrite", false, "write over the output of a run with other settings")
	f.String("format", "", "input format: auto, text, bucc, tsv, jsonl, parquet")
	f.String("text-column", "", "text column of TSV, JSONL and Parquet input")
	f.String("doc-column", "", "document column of TSV, JSONL and Parquet input")
	f.String("url-column", "", "URL column of TSV, JSONL and Parquet input")
	f.String("on-bad-line", "", "a line that cannot be used: skip or fail")
	f.Int("max-line-bytes", 0, "longest line that can be a sentence")
	f.Int("shard-size", 0, "rows of a shard")
	f.String("encoder", "", "built-in encoder, or the path of a model.yaml")
	f.String("dtype", "", "embedding files: float16 or float32")
	f.String("onnxruntime", "", "path of libonnxruntime")
	f.String("search", "", "search backend: exact, faiss:FACTORY")
	f.Int("k", 0, "neighbours")
	f.String("margin", "", "ratio, distance, absolute")
	f.String("retrieval", "", "max, intersect, union, forward, backward")
	f.Float64("threshold", 0, "keep pairs of at least this probability; without a scorer, of a margin above this")
	f.String("scorer", "", "default, none, or a scorer's file")
	f.Float64("precision", 0, "keep as many pairs as leave this precision, by the scorer's probabilities")
	f.Bool("features", false, "also write the scorer's features of each pair")
	f.Bool("keep-below", false, "also write candidates that were not kept, with their reasons")
	f.Int("threads", 0, "threads; 0: every core")
	f.String("engine", "", "what runs the tasks: local, slurm, kubernetes")
	f.Int("keep", 0, "with --nightly: nights whose bitext stays")
	f.String("metrics", "", "with --nightly: a text file for node_exporter")
	f.String("max-memory", "", "bound of the memory used, such as 4GiB; mapped files apart")
}

// setting is a value and where it came from.
type setting struct {
	key    string
	value  any
	origin string
}

// load returns the configuration and the origin of each of its settings, in the order of pipeline.Config.
func (s *settings) load() (*pipeline.Config, []setting, error) {
	v := viper.New()
	v.SetConfigType("yaml")
	if err := readPreset(v, "default"); err != nil {
		return nil, nil, err
	}
	from := map[string]string{} // the preset of a setting
	for _, name := range s.presets() {
		preset := viper.New()
		preset.SetConfigType("yaml")
		if err := readPreset(preset, name); err != nil {
			return nil, nil, err
		}
		if err := v.MergeConfigMap(preset.AllSettings()); err != nil {
			return nil, nil, badinput.Errorf("config %s: %w", name, err)
		}
		for key := range preset.AllSettings() {
			from[key] = name
		}
	}
	v.SetEnvPrefix("mine")
	var origins []setting
	for _, key := range configKeys() {
		origin := "default"
		if name, ok := from[key]; ok {
			origin = "config " + name
		}
		if name := "MINE_" + strings.ToUpper(key); os.Getenv(name) != "" {
			origin = "environment " + name
		}
		if err := v.BindEnv(key); err != nil {
			return nil, nil, err
		}
		if flag := s.flags.Lookup(strings.ReplaceAll(key, "_", "-")); flag != nil {
			if flag.Changed {
				origin = "flag --" + flag.Name
			}
			if err := v.BindPFlag(key, flag); err != nil {
				return nil, nil, err
			}
		}
		origins = append(origins, setting{key: key, origin: origin})
	}
	var cfg pipeline.Config
	if err := v.UnmarshalExact(&cfg, viper.DecodeHook(splitLists)); err != nil {
		return nil, nil, badinput.Errorf("settings: %s", oneLine(err))
	}
	for i := range origins {
		origins[i].value = v.Get(origins[i].key)
	}
	return &cfg, origins, nil
}

// presets lists the presets to lay over the default, in order.
func (s *settings) presets() []string {
	var names []string
	if s.nightly {
		names = append(names, "nightly")
	}
	if s.preset != "" {
		names = append(names, s.preset)
	}
	return names
}

// splitLists reads a list from one environment variable, its members parted as in PATH.
func splitLists(from, to reflect.Type, value any) (any, error) {
	if from.Kind() == reflect.String && to == reflect.TypeFor[[]string]() {
		return filepath.SplitList(value.(string)), nil
	}
	return value, nil
}

// readPreset reads a preset of the program by name, or a YAML file by path.
func readPreset(v *viper.Viper, name string) error {
	data, err := fs.ReadFile(configs.Files, name+".yaml")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		data, err = os.ReadFile(name)
	}
	if err != nil {
		return badinput.Errorf("config %s is neither a preset (%s) nor a file that can be read: %w", name, presetNames(), err)
	}
	if err := v.ReadConfig(strings.NewReader(string(data))); err != nil {
		return badinput.Errorf("config %s is not YAML: %s", name, oneLine(err))
	}
	known := configKeys()
	for key := range v.AllSettings() {
		if !slices.Contains(known, key) {
			return badinput.Errorf("config %s: setting %q is not known; `mine config` lists the settings", name, key)
		}
	}
	return nil
}

func presetNames() string {
	entries, err := configs.Files.ReadDir(".")
	if err != nil {
		panic(err) // embedded
	}
	names := make([]string, len(entries))
	for i, entry := range entries {
		names[i] = strings.TrimSuffix(entry.Name(), ".yaml")
	}
	return strings.Join(names, ", ")
}

// configKeys lists the settings in the order of pipeline.Config.
func configKeys() []string {
	t := reflect.TypeFor[pipeline.Config]()
	var keys []string
	for i := range t.NumField() {
		if key := t.Field(i).Tag.Get("mapstructure"); key != "" && key != "-" {
			keys = append(keys, key)
		}
	}
	return keys
}

func oneLine(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }
