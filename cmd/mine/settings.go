package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
	f.String("search", "", "search backend: exact, auto, faiss:FACTORY, faiss-gpu:FACTORY")
	f.Int("nprobe", 0, "inverted lists that a query visits, of an approximate search")
	f.Int("ef-search", 0, "breadth of a graph search, of an approximate search")
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

// load returns the configuration and the origin of each of its settings, in the order of pipeline.Config.
func (s *settings) load() (*pipeline.Config, []setting, error) {
	var presets []string
	if s.nightly {
		presets = append(presets, "nightly")
	}
	if s.preset != "" {
		presets = append(presets, s.preset)
	}
	return mergeLayers(presets, s.flags, configKeys())
}
