// Package simulate estimates a run over corpora and on machines that are not here: hours, money, bytes moved, memory,
// and the work that failing machines have done again. The stages themselves make the tasks, the same as in a run over
// such corpora; only their text is missing.
package simulate

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
	"bitextmine/internal/yamlbound"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/scorer"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage"
	"bitextmine/score"
)

// Cluster describes a simulation: corpora, machines, and a store between them. docs/scale.md explains the file.
type Cluster struct {
	Languages map[string]Corpus `yaml:"languages"`
	Pairs     []string          `yaml:"pairs"` // source-target
	Machines  []Machine         `yaml:"machines"`
	Store     Store             `yaml:"store"`
	Currency  string            `yaml:"currency"`
}

// Corpus is the text of one language.
type Corpus struct {
	Sentences float64 `yaml:"sentences"` // distinct
	Added     float64 `yaml:"added"`     // sentences that came since the last run; 0: the run is the first
	Bytes     float64 `yaml:"bytes"`     // mean size of a sentence
	// Document is the sentences of a document, on average, whose records are divided; 0: records are sentences.
	Document float64 `yaml:"document"`
}

// Machine is a kind of machine.
type Machine struct {
	Name     string   `yaml:"name"`
	Count    int      `yaml:"count"`
	Cores    int      `yaml:"cores"`
	GPUs     int      `yaml:"gpus"`
	Memory   Bytes    `yaml:"memory"`
	Network  Bytes    `yaml:"network"`  // a second, between it and the store
	Price    float64  `yaml:"price"`    // price of an hour
	Failures float64  `yaml:"failures"` // an hour, on average
	Start    float64  `yaml:"start"`    // seconds from a task's turn to its first step
	Stages   []string `yaml:"stages"`   // that it does; empty: all
	// Runs are the run.json of runs on a machine of this kind, whose rates are taken for each of their threads.
	Runs []string `yaml:"runs"`
	// Rates are items a second of one core by stage, or of one GPU for the stages that use the machine's GPUs. They stand
	// above those of Runs.
	Rates map[string]float64 `yaml:"rates"`
}

// Store is where all machines read and write.
type Store struct {
	Read  Bytes `yaml:"read"`  // a second, of all machines together; 0: no bound
	Write Bytes `yaml:"write"` // the same
}

// Bytes is a number of bytes in a file, such as 4GiB.
type Bytes int64

// UnmarshalYAML implements yaml.Unmarshaler.
func (b *Bytes) UnmarshalYAML(node *yaml.Node) error {
	n, err := setting.ParseBytes(strings.TrimSuffix(node.Value, "/s"))
	if err != nil {
		return fmt.Errorf("line %d: %q: %w", node.Line, node.Value, err)
	}
	*b = Bytes(n)
	return nil
}

// maxClusterFile bounds the file, in bytes.
const maxClusterFile = 1 << 20

// ReadCluster reads a cluster's file.
func ReadCluster(path string) (*Cluster, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, badinput.Errorf("the cluster's file %s cannot be opened: %w", path, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxClusterFile+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, badinput.Errorf("the cluster's file %s cannot be read: %w", path, err)
	}
	if len(data) > maxClusterFile {
		return nil, badinput.Errorf("the cluster's file %s is larger than 1 MiB; docs/scale.md shows what it holds", path)
	}
	c, err := decode(data)
	if err != nil {
		return nil, badinput.Errorf("the cluster's file %s: %w; docs/scale.md shows what it holds", path, err)
	}
	return c, nil
}

func decode(data []byte) (*Cluster, error) {
	c := &Cluster{}
	if err := yamlbound.Check(data, "it"); err != nil {
		return nil, err
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(c); err != nil {
		return nil, err
	}
	return c, c.problems().Err("")
}

// problems lists what is wrong with a cluster's description.
func (c *Cluster) problems() (found badinput.Problems) {
	for _, code := range slices.Sorted(maps.Keys(c.Languages)) {
		corpus := c.Languages[code]
		// a NaN fails each of these
		found.Unless(corpus.Sentences >= 1 && corpus.Sentences <= maxSentences,
			"languages.%s.sentences = %g, which must be 1 to %g", code, corpus.Sentences, float64(maxSentences))
		found.Unless(corpus.Added >= 0 && corpus.Added <= corpus.Sentences,
			"languages.%s.added = %g, which must be 0 to its sentences", code, corpus.Added)
		found.Unless(corpus.Bytes >= 1 && corpus.Bytes <= 1e6,
			"languages.%s.bytes = %g, which must be 1 to 1e6 for a sentence", code, corpus.Bytes)
		found.Unless(corpus.Document == 0 || corpus.Document >= 2 && corpus.Document <= corpus.Sentences,
			"languages.%s.document = %g, which must be 2 to its sentences, or 0", code, corpus.Document)
	}
	found.Unless(len(c.Pairs) > 0, "pairs names none, such as [de-en]")
	paired := map[string]bool{}
	for i, pair := range c.Pairs {
		source, target := c.sides(pair)
		paired[source], paired[target] = true, true
		found.Unless(source != target, "pairs has %q, which must be two of the file's languages, such as de-en", pair)
		found.Unless(!slices.Contains(c.Pairs[:i], pair), "pairs has %q twice", pair)
	}
	for _, code := range slices.Sorted(maps.Keys(c.Languages)) {
		found.Unless(len(c.Pairs) == 0 || paired[code],
			"languages.%s is in none of the pairs; add a pair with it, or leave it out", code)
	}
	found.Unless(len(c.Machines) > 0, "machines names none")
	for i := range c.Machines {
		found = append(found, c.Machines[i].problems()...)
	}
	return found
}

// sides are the languages of a pair, which may have hyphens themselves (zh-Hant); both are empty if the pair does not
// have two of the file's.
func (c *Cluster) sides(pair string) (source, target string) {
	for i, r := range pair {
		if r != '-' {
			continue
		}
		_, knowsSource := c.Languages[pair[:i]]
		if _, knowsTarget := c.Languages[pair[i+1:]]; knowsSource && knowsTarget {
			return pair[:i], pair[i+1:]
		}
	}
	return "", ""
}

func (m *Machine) problems() (found badinput.Problems) {
	unless := func(ok bool, format string, args ...any) {
		found.Unless(ok, "machine %q: "+format, append([]any{m.Name}, args...)...)
	}
	unless(m.Count >= 1 && m.Count <= maxMachines && m.Cores >= 1 && m.Cores <= 4096 && m.GPUs >= 0 && m.GPUs <= 64,
		"count must be 1 to %d, cores 1 to 4096, gpus 0 to 64", maxMachines)
	unless(m.Memory >= 1, "memory must be given, such as 128GiB")
	for i, value := range []float64{m.Price, m.Failures, m.Start} {
		unless(value >= 0 && !math.IsInf(value, 0), "%s = %g, which must be 0 or more", [...]string{"price", "failures", "start"}[i], value)
	}
	for _, stage := range slices.Sorted(maps.Keys(m.Rates)) {
		unless(m.Rates[stage] > 0 && !math.IsInf(m.Rates[stage], 0), "rates.%s = %g, which must be more than 0", stage, m.Rates[stage])
	}
	return found
}

const (
	maxSentences = 1e12
	maxMachines  = 100_000
)

// Fits refuses a bound of memory that a run of two sentences a side would not fit into, nor any other.
func Fits(cfg *config.Config, version string) error {
	if cfg.MemoryBound() == 0 || config.UnnamedEncoder(cfg) {
		return nil
	}
	request, err := RequestOf(cfg, version)
	if err != nil {
		return err
	}
	least := Corpus{Sentences: 2, Bytes: 1}
	if cfg.Documents == setting.DocumentsOn {
		least.Document = 2
	}
	plans, _, err := plans(&Cluster{Languages: map[string]Corpus{"de": least, "en": least}, Pairs: []string{"de-en"}}, request)
	for _, p := range plans {
		for _, w := range p.Waves {
			for i := range w.Tasks {
				err = cmp.Or(err, w.Tasks[i].Fits(cfg.MemoryBound()))
			}
		}
	}
	return err
}

// RequestOf returns the request for the plans of a run with these settings. The run's own text is not read.
func RequestOf(cfg *config.Config, version string) (stage.Request, error) {
	if err := cfg.Validate(); err != nil {
		return stage.Request{}, err
	}
	m, err := config.OpenModels(cfg)
	if err != nil {
		return stage.Request{}, err
	}
	// A scorer that would be fitted on the way costs as much as the default one.
	choice, err := (&scorer.Chooser{Config: cfg, Models: m, Log: slog.New(slog.DiscardHandler)}).Load()
	if err == nil && choice.ToFit {
		choice.Scorer, _, err = score.Load(score.Default, cfg.K, m.Encoder)
	}
	if err != nil {
		return stage.Request{}, err
	}
	searched := cfg.Search
	if searched == backend.Auto {
		searched = exact.Name // whose lists auto gives
	}
	weights, err := m.Weights(cfg)
	if err != nil {
		return stage.Request{}, err
	}
	r := stage.Request{
		Weights: weights, Version: version, Encoder: cfg.Encoder, Threads: cfg.Threads,
		Refiner: m.Refiner(cfg), Judge: m.PlanJudge(cfg), Settings: config.SettingsOf(cfg, searched, m, choice.Scorer),
	}
	if choice.Scorer != nil {
		r.Scorer = choice.Scorer.Data
	}
	return r, nil
}
