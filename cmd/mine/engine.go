package main

import (
	"os"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"bitextmine/encode"
	"bitextmine/index"
	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/index/faiss"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
)

// engine is the encoder and the search of the commands that evaluate: the same settings as a run's, in the same layers.
type engine struct {
	preset  string
	command *cobra.Command

	Encoder     string
	ONNXRuntime string
	Search      string
	NProbe      int
	EfSearch    int
	Threads     int
}

// engineKeys are the settings of pipeline.Config that an engine takes.
var engineKeys = []string{"encoder", "onnxruntime", "search", "nprobe", "ef_search", "threads"}

func (e *engine) register(cmd *cobra.Command) {
	e.command = cmd
	f := cmd.Flags()
	f.StringVar(&e.preset, "config", "", "a preset's name, or a YAML file")
	f.String("encoder", "", "built-in encoder, or the path of a model.yaml")
	f.String("onnxruntime", "", "path of libonnxruntime")
	f.String("search", "", "search backend")
	f.Int("nprobe", 0, "inverted lists that a query visits, of an approximate search")
	f.Int("ef-search", 0, "breadth of a graph search, of an approximate search")
	f.Int("threads", 0, "threads; 0: every core")
}

// load settles the settings: defaults < --config < MINE_* environment < flags.
func (e *engine) load() error {
	_, err := e.loadWith()
	return err
}

// loadWith is load for a command that has flags of more settings, which it finds in what is returned.
func (e *engine) loadWith(more ...string) (*pipeline.Config, error) {
	var presets []string
	if e.preset != "" {
		presets = append(presets, e.preset)
	}
	cfg, _, err := mergeLayers(presets, e.command.Flags(), slices.Concat(engineKeys, more))
	if err != nil {
		return nil, err
	}
	e.Encoder, e.ONNXRuntime, e.Threads = cfg.Encoder, cfg.ONNXRuntime, cfg.Threads
	e.Search, e.NProbe, e.EfSearch = cfg.Search, cfg.NProbe, cfg.EfSearch
	if e.Threads < 0 {
		return nil, badinput.Errorf("settings: threads = %d must not be negative", e.Threads)
	}
	if e.Threads == 0 {
		e.Threads = runtime.NumCPU()
	}
	return cfg, nil
}

// searcher opens the search; auto is exact, as what is evaluated must not depend on the machine.
func (e *engine) searcher() (index.Searcher, error) {
	name := e.Search
	if name == backend.Auto {
		name = exact.Name
	}
	opts := backend.Options{Threads: e.Threads, FAISS: faiss.Options{NProbe: e.NProbe, EfSearch: e.EfSearch}}
	return backend.Open(name, opts)
}

func (e *engine) encoder() (*encode.Encoder, error) {
	model, err := encode.Load(e.Encoder)
	if err != nil {
		return nil, err
	}
	return encode.Open(model, encode.Options{Threads: e.Threads, Library: e.ONNXRuntime})
}

// cacheDir is where downloaded data lies: MINE_CACHE, or mine in the user's cache directory.
func cacheDir() (string, error) {
	if dir := os.Getenv("MINE_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	return dir + "/mine", err
}
