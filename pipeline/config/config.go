// Package config is the settings of a run as one value: validated, and turned into what the parts of a run are opened
// with.
package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/boundary"
	"bitextmine/encode/model"
	"bitextmine/index/backend"
	"bitextmine/index/cuda"
	"bitextmine/index/exact"
	"bitextmine/index/faiss"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/engine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/store"
	"bitextmine/score"
)

// Config is the settings of a run. The groups declare them; configs/default.yaml has their defaults and the reasons.
type Config struct {
	setting.Languages
	setting.Many
	setting.Input
	setting.Given
	setting.Checks
	setting.Output
	setting.Text
	setting.Sides
	setting.Dividing
	setting.Aligning
	setting.Encoding
	setting.Vectors
	setting.Searching
	setting.Decision
	setting.Refining
	setting.Judging
	setting.Resources
	setting.Scheduling
	setting.Nights

	valid        bool               // set by Validate
	arithmetic   setting.Arithmetic // set by place
	DryRun       io.Writer          `setting:"-"` // gets an engine's scripts instead of a run
	SortWarnings []string           `setting:"-"` // each names what sorting left out of mixed text
	OneOfMany    bool               `setting:"-"` // a pair of many, whose text --text names
	learned      *boundary.Model    // Splitter; nil: rules divide
	docPairs     string             // digest of DocPairs; empty: it names no file
	excluded     string             // digest of Exclude, the same
	metaColumns  [2]string          // each side's columns, from DocMeta
}

// Scored says whether a scorer decides. The scorers of the program know one encoder only: where default is asked for in
// two-stage mining, the product of strong cosine and static margin decides in its place. A scorer must know the encoder
// of vectors that another program made.
func (c *Config) Scored() bool {
	switch c.Scorer {
	case "", score.None:
		return false
	case score.Auto:
		return !UnnamedEncoder(c)
	}
	return true
}

// side returns the language and the patterns of one side.
func (c *Config) side(target bool) (language string, patterns []string, flag string) {
	language, patterns, flag = c.Source, c.SourceText, "--src-text"
	if target {
		language, patterns, flag = c.Target, c.TargetText, "--tgt-text"
	}
	if len(patterns) == 0 {
		patterns = c.Corpora[language]
	}
	if c.OneOfMany {
		flag = fmt.Sprintf("--text %s=FILES", language)
	}
	return language, patterns, flag
}

// EncodingFlags are the flags that name the encoding of each side's text.
func (c *Config) EncodingFlags() [2]string {
	if c.OneOfMany {
		return [2]string{"--encoding", "--encoding"}
	}
	return [2]string{"--src-encoding", "--tgt-encoding"}
}

// CorpusOptions says how the input of either side is read and cut: 0 source, 1 target.
func (c *Config) CorpusOptions() (sides [2]corpus.Options) {
	for side, own := range [2]corpus.Options{
		{
			Format: corpus.Format(c.SourceFormat), TextColumn: c.SourceTextColumn,
			DocColumn: c.SourceDocColumn, URLColumn: c.SourceURLColumn, Encoding: c.SourceCharset,
		},
		{
			Format: corpus.Format(c.TargetFormat), TextColumn: c.TargetTextColumn,
			DocColumn: c.TargetDocColumn, URLColumn: c.TargetURLColumn, Encoding: c.TargetCharset,
		},
	} {
		o := commonOptions(c.Text)
		o.Format = cmp.Or(own.Format, o.Format)
		o.TextColumn = cmp.Or(own.TextColumn, o.TextColumn)
		o.DocColumn = cmp.Or(own.DocColumn, o.DocColumn)
		o.Encoding = cmp.Or(own.Encoding, o.Encoding)
		o.URLColumn = cmp.Or(own.URLColumn, o.URLColumn)
		sides[side] = o
	}
	return sides
}

// commonOptions is how a side is read that has no settings of its own.
func commonOptions(t setting.Text) corpus.Options {
	return corpus.Options{
		Format:     corpus.Format(t.Format),
		TextColumn: t.TextColumn, DocColumn: t.DocColumn, URLColumn: t.URLColumn,
		OnBadLine: corpus.OnBadLine(t.OnBadLine), Encoding: t.Charset, MaxLineBytes: t.MaxLineBytes, ShardSize: t.ShardSize,
	}
}

// SearchOptions are the settings of whatever backend searches.
func (c *Config) SearchOptions() backend.Options {
	return setting.SearchOptions(c.Searching, c.Resources)
}

// EncoderOptions are the settings that an encoder, or a scorer's token vectors, are opened with on the CPU.
func (c *Config) EncoderOptions() encode.Options { return setting.EncoderOptions(c.Resources) }

// RecordOf returns the settings that run.json holds, given the models and the scorer, which may be nil.
func RecordOf(c *Config, m Models, scorer *score.Named) setting.Record {
	r := setting.Record{
		Languages: c.Languages, Text: c.Text, Sides: c.Sides, Dividing: c.Dividing, Aligning: c.Aligning, Encoding: c.Encoding, Vectors: c.Vectors, Searching: c.Searching, Decision: c.Decision,
		Refining: c.Refining, Judging: c.Judging, Arithmetic: c.arithmetic,
	}
	r.Encoder, r.Refine, r.Judge, r.Scorer = digestOf(m.Encoder), digestOf(m.Strong), digestOf(m.Judge), scorerDigest(scorer, m.Encoder)
	r.DocPairs = c.docPairs
	if c.learned != nil {
		r.Splitter = c.learned.Digest
	}
	if r.Split == setting.SplitAuto {
		r.Split = "" // records had it empty before there was a choice
	}
	r.SearchApproximate = strings.Join(c.Approximate(), " ")
	if c.Search == backend.Auto && r.SearchApproximate == "" || c.Search == cuda.Name {
		r.Search = exact.Name // whatever it takes, the results are these
	}
	return r
}

// SettingsOf returns the settings as the keys of stages hold them, given the models and the scorer, which may be nil;
// search is whose lists they are.
func SettingsOf(c *Config, search string, m Models, scorer *score.Named) plan.Settings {
	s := plan.Settings{
		Corpus: commonOptions(c.Text), EncoderName: m.Encoder.Name, Encoding: c.Encoding, Dim: m.Encoder.Dim, Vectors: c.Vectors,
		Searching: c.Searching, Decision: c.Decision, Refining: c.Refining, Judging: c.Judging, Aligning: c.Aligning, Arithmetic: c.arithmetic,
	}
	s.DocPairs = c.docPairs
	s.Encoder, s.Refine, s.Judge, s.Scorer = digestOf(m.Encoder), digestOf(m.Strong), digestOf(m.Judge), scorerDigest(scorer, m.Encoder)
	s.Search, s.SearchApproximate = search, ""
	return s
}

// executable is the path that starts the program. The wheel's program runs under the C library in the wheel (ld.so), so
// there it is the script launch beside that.
func executable() (string, error) {
	path, err := os.Executable()
	if filepath.Base(path) == "ld.so" {
		path = filepath.Join(filepath.Dir(path), "launch")
	}
	return path, err
}

// NewEngine returns the engine of a run, after refusing settings that it could not run with.
func (c *Config) NewEngine() (engine.Engine, error) {
	e, err := engineOf(c)
	if err == nil {
		err = e.Check(c.Out, c.Work)
	}
	return e, err
}

func engineOf(c *Config) (engine.Engine, error) {
	switch c.Engine {
	case "", "local":
		if c.DryRun != nil {
			return nil, badinput.Errorf("engine local has no scripts to print; choose slurm, kubernetes, argo or command with --engine")
		}
		return engine.Local{Cores: c.Threads, MaxMemory: c.MemoryBound()}, nil
	case "slurm":
		program, err := executable()
		return engine.Slurm{
			Binary: program, Cores: c.Threads, MaxMemory: c.MemoryBound(), Options: c.SlurmOptions, Log: slog.Default(), DryRun: c.DryRun,
		}, err
	case "kubernetes":
		return kubernetes(c), nil
	case "argo":
		return engine.Argo{Kubernetes: kubernetes(c)}, nil
	case "command":
		program, err := executable()
		return engine.Command{
			Line: c.Command, Jobs: c.CommandJobs, Binary: program, Cores: c.Threads, MaxMemory: c.MemoryBound(), Log: slog.Default(), DryRun: c.DryRun,
		}, err
	}
	return nil, badinput.Errorf("engine %q is not known; choose local, slurm, kubernetes, argo or command", c.Engine)
}

// Remote says whether the engine runs tasks in other processes.
func (c *Config) Remote() bool {
	e, err := engineOf(c)
	return err == nil && engine.Remote(e)
}

func kubernetes(c *Config) engine.Kubernetes {
	return engine.Kubernetes{
		Image: c.KubernetesImage, Namespace: c.KubernetesNamespace, Claim: c.KubernetesClaim, Mount: c.KubernetesMount,
		Pod: c.KubernetesPod, Text: c.textPaths(), GPUs: c.KubernetesGPUs, Cores: c.Threads, MaxMemory: c.MemoryBound(),
		Log: slog.Default(), DryRun: c.DryRun,
	}
}

// textPaths are the paths, and the patterns of paths, of what tasks read beside the work directory and models.
func (c *Config) textPaths() (paths []string) {
	for _, target := range []bool{false, true} {
		_, patterns, _ := c.side(target)
		paths = append(paths, patterns...)
	}
	paths = slices.Concat(paths, c.SourceEmb, c.TargetEmb, []string{c.Exclude, c.DocPairs})
	return slices.DeleteFunc(paths, func(path string) bool { return path == "" || strings.HasPrefix(path, FixturesPrefix) })
}

// NewReport starts the report of a run. scorer may be nil.
func NewReport(cfg *Config, version string, m Models, scorer *score.Named) *record.Report {
	s := RecordOf(cfg, m, scorer)
	report := &record.Report{
		Version: version, ConfigDigest: plan.Digest(s), Settings: s,
		Threads: cfg.Threads, Work: absolute(cfg.Work),
		Encoder:  *encoderReport(m.Encoder),
		Refiner:  encoderReport(m.Strong),
		Judge:    encoderReport(m.Judge),
		Versions: map[string]string{"go": runtime.Version(), "mine": version, "blas": faiss.RunningBLAS().String()},
	}
	if scorer != nil {
		report.Scorer = &record.ScorerReport{Name: scorer.Name, Encoder: scorer.Encoder.Name, FittedOn: scorer.FittedOn}
	}
	return report
}

// encoderReport names an encoder; nil without one.
func encoderReport(m *model.Model) *record.EncoderReport {
	if m == nil {
		return nil
	}
	return &record.EncoderReport{Name: m.Name, Digest: m.Digest, Dim: m.Dim}
}

// digestOf is a model's digest; empty without one.
func digestOf(m *model.Model) string {
	if m == nil {
		return ""
	}
	return m.Digest
}

// scorerDigest names the scorer's content and the token vectors that it is given; empty without a scorer.
func scorerDigest(scorer *score.Named, m *model.Model) string {
	if scorer == nil {
		return ""
	}
	return plan.Digest([]any{json.RawMessage(scorer.Data), m.Tokens})
}

// absolute is the location of a store as another process finds it.
func absolute(work string) string {
	if store.Remote(work) {
		return work
	}
	if path, err := filepath.Abs(work); err == nil {
		return path
	}
	return work
}

// MakeOut makes an output directory.
func MakeOut(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return badinput.Errorf("output directory %s cannot be made (%w); name another with --out", dir, err)
	}
	return nil
}
