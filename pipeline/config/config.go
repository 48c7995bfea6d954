// Package config is the settings of a run as one value: validated, and turned into what the parts of a run are opened with.
package config

import (
	"io"
	"os"
	"strings"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/engine"
	"bitextmine/pipeline/open"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/setting"
	"bitextmine/score"
)

// Config is the settings of a run. The groups declare them; configs/default.yaml has their defaults and the reasons.
type Config struct {
	setting.Languages
	setting.Input
	setting.Checks
	setting.Output
	setting.Text
	setting.Encoding
	setting.Vectors
	setting.Searching
	setting.Decision
	setting.Resources
	setting.Scheduling
	setting.Nights

	DryRun    io.Writer `setting:"-"` // gets an engine's scripts instead of a run
	maxMemory int64     // MaxMemory in bytes; 0: no bound
}

// scored says whether a scorer decides.
func (c *Config) scored() bool { return c.Scorer != "" && c.Scorer != score.None }

// side returns the language and the patterns of one side.
func (c *Config) side(target bool) (language string, patterns []string, flag string) {
	language, patterns, flag = c.Source, c.SourceText, "--src-text"
	if target {
		language, patterns, flag = c.Target, c.TargetText, "--tgt-text"
	}
	if len(patterns) == 0 {
		patterns = c.Corpora[language]
	}
	return language, patterns, flag
}

// MemoryBound is MaxMemory in bytes, once the settings are validated; 0: no bound.
func (c *Config) MemoryBound() int64 { return c.maxMemory }

// CorpusOptions says how the input is read and cut.
func (c *Config) CorpusOptions() corpus.Options {
	return corpus.Options{
		Format:     corpus.Format(c.Format),
		TextColumn: c.TextColumn, DocColumn: c.DocColumn, URLColumn: c.URLColumn,
		OnBadLine: corpus.OnBadLine(c.OnBadLine), MaxLineBytes: c.MaxLineBytes, ShardSize: c.ShardSize,
	}
}

// SearchOptions are the settings of whatever backend searches.
func (c *Config) SearchOptions() backend.Options {
	return open.SearchOptions(c.Searching, c.Resources)
}

// EncoderOptions are the settings that an encoder, or a scorer's token vectors, are opened with.
func (c *Config) EncoderOptions() encode.Options { return open.EncoderOptions(c.Resources) }

// Record returns the settings that run.json holds, given the digests of the encoder and the scorer.
func (c *Config) Record(encoderDigest, scorerDigest string) setting.Record {
	r := setting.Record{
		Languages: c.Languages, Text: c.Text, Encoding: c.Encoding, Vectors: c.Vectors, Searching: c.Searching, Decision: c.Decision,
	}
	r.Encoder, r.Scorer = encoderDigest, scorerDigest
	r.SearchApproximate = strings.Join(c.Approximate(), " ")
	if c.Search == backend.Auto && r.SearchApproximate == "" {
		r.Search = exact.Name // whatever it takes, the results are these
	}
	return r
}

// PlanSettings returns the settings as the keys of stages hold them; search is whose lists they are.
func (c *Config) PlanSettings(model *encode.Model, search, scorerDigest string) plan.Settings {
	s := plan.Settings{
		Corpus: c.CorpusOptions(), EncoderName: model.Name, Encoding: c.Encoding, Dim: model.Dim, Vectors: c.Vectors,
		Searching: c.Searching, Decision: c.Decision,
	}
	s.Encoder, s.Scorer = model.Digest, scorerDigest
	s.Search, s.SearchApproximate = search, ""
	return s
}

// NewEngine returns the engine of a run and whether it is another process's.
func (c *Config) NewEngine() (engine.Engine, bool, error) {
	switch c.Engine {
	case "", "local":
		if c.DryRun != nil {
			return nil, false, badinput.Errorf("engine local has no scripts to print; choose slurm or kubernetes with --engine")
		}
		return engine.Local{Cores: c.Threads, MaxMemory: c.maxMemory}, false, nil
	case "slurm":
		program, err := os.Executable()
		return engine.Slurm{Binary: program, Cores: c.Threads, MaxMemory: c.maxMemory, Options: c.SlurmOptions, DryRun: c.DryRun}, true, err
	case "kubernetes":
		return engine.Kubernetes{
			Image: c.KubernetesImage, Namespace: c.KubernetesNamespace, Claim: c.KubernetesClaim, Mount: c.KubernetesMount,
			GPUs: c.KubernetesGPUs, Cores: c.Threads, MaxMemory: c.maxMemory, DryRun: c.DryRun,
		}, true, nil
	}
	return nil, false, badinput.Errorf("engine %q is not known; choose local, slurm or kubernetes", c.Engine)
}
