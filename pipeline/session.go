// Package pipeline runs mining from text to bitext, in steps: a session opens what the settings name; the text is cut
// into shards; the rest is planned, which runs no task; the plan is executed; the bitext is delivered.
//
// The folders below have the parts: plan (the tasks, as data), stage (the kinds of tasks, one folder each), cut (the
// text as it was cut, and its defects), scorer (the scorer of a run, fitted if need be), store (outputs by content
// key), engine (where tasks run), view (what is computed, read-only), record (run.json, history, locks), night (nightly
// runs), admin (status, sweeping, differences), setting (the settings, each declared once).
package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"

	"bitextmine/configs"
	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/encode/gpu"
	"bitextmine/encode/model"
	onnx "bitextmine/encode/session"
	"bitextmine/encode/tokenizer"
	"bitextmine/index/backend"
	"bitextmine/index/cuda"
	"bitextmine/index/exact"
	"bitextmine/index/faiss"
	"bitextmine/internal/badinput"
	"bitextmine/internal/usage"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/engine"
	"bitextmine/pipeline/multiway"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/scorer"
	"bitextmine/pipeline/simulate"
	"bitextmine/pipeline/stage"
	stagefit "bitextmine/pipeline/stage/fit"
	"bitextmine/pipeline/stage/search"
	"bitextmine/pipeline/store"
	"bitextmine/score"
)

// Config is the settings of a run.
type Config = config.Config

// Options are the inputs of a run besides its settings.
type Options struct {
	Progress progress.Reporter
	Log      *slog.Logger
	Version  string // the program's version
	// Planned are tasks, as stage/key, that other runs will have done before this one; Plan adds its own. nil: there are
	// none.
	Planned map[string]bool
	// Gold compares the bitext at a path with known pairs; nil, or a nil report: there are none.
	Gold func(ctx context.Context, bitext string) (*record.GoldReport, error)
	// OpenEncoder opens an encoder; nil: encode.Open.
	OpenEncoder func(model *model.Model, options encode.Options) (stage.Encoder, error)
	// Processor names what the last bits of the process's results depend on; nil: encode.Processor.
	Processor func() string
	// OpenStore opens the store at a location; nil: store.Open.
	OpenStore func(ctx context.Context, location string, log *slog.Logger) (*store.Store, error)
}

func (o Options) openStore(ctx context.Context, location string) (*store.Store, error) {
	if o.OpenStore != nil {
		return o.OpenStore(ctx, location, o.Log)
	}
	return store.Open(ctx, location, o.Log)
}

// session is the first step of a run: it holds the opened settings, encoders, store and engine. It is not changed after
// open.
type session struct {
	Options
	cfg     Config
	started time.Time
	models  config.Models
	scorers *scorer.Chooser
	scorer  scorer.Choice // has no goal other than the bitext
	store   *store.Store
	held    *record.Held // plans
	engine  engine.Engine
	chooser *search.Chooser
	early   *tokenizer.Early
	reading time.Duration // spent on finding input files and looking into them
	unknown []string      // warnings of languages that an encoder does not know
}

// open opens what cfg names. goal is the stage that is asked for, which needs no scorer; empty: the bitext.
func open(ctx context.Context, goal string, cfg Config, opts Options) (*session, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	usage.LimitHeap(cfg.MemoryBound())
	s, err := checked(goal, cfg, opts)
	if err != nil {
		return nil, err
	}
	s.early = tokenizer.NewEarly(s.models.Encoder)
	s.started = time.Now().UTC()
	if err := config.MakeOut(cfg.Out); err != nil {
		return nil, err
	}
	s.store, err = opts.openStore(ctx, s.cfg.Work)
	return s, err
}

// checked is the part of opening that reads no text and makes nothing, for settings that are valid.
func checked(goal string, cfg Config, opts Options) (*session, error) {
	if goal == stagefit.Calibrate.Name && cfg.Refine != "" {
		return nil, badinput.Errorf("refine = %s: mine calibrate looks at the margins of one encoder; leave refine out", cfg.Refine)
	}
	if goal != "" && config.UnnamedEncoder(&cfg) {
		return nil, badinput.Errorf("known pairs must be encoded as src_emb and tgt_emb were: " +
			"name the encoder that made them with --encoder")
	}
	library := faiss.RunningBLAS()
	if warning := library.Warning(); warning != "" {
		opts.Log.Warn(warning)
	}
	s := &session{Options: opts, held: &record.Held{}}
	var err error
	if s.models, err = config.OpenModels(&cfg); err != nil {
		return nil, err
	}
	for _, m := range []*model.Model{s.models.Encoder, s.models.Strong} {
		if m != nil {
			s.unknown = append(s.unknown, UnknownLanguages(opts.Log, m, [2]string{cfg.Source, cfg.Target})...)
		}
	}
	if s.engine, err = cfg.NewEngine(); err != nil {
		return nil, err
	}
	remote, dim := engine.Remote(s.engine), s.models.Encoder.Dim
	if err := checkSearch(&cfg, dim, remote); err != nil {
		return nil, err
	}
	s.chooser = &search.Chooser{
		Settings: cfg.Searching, Options: cfg.SearchOptions(), Dim: dim, K: cfg.K,
		Engine: cfg.Engine, Remote: remote, MemoryLimit: usage.MemoryWithin(cfg.MemoryBound()),
	}
	if cfg.ONNXRuntime != "" && !remote { // else it is looked for when there is something to encode
		if _, err := onnx.CheckRuntime(cfg.ONNXRuntime, gpu.Device{}); err != nil {
			return nil, err
		}
	}
	s.cfg = cfg // now it names what computes the encoders
	s.scorers = &scorer.Chooser{Config: &s.cfg, Models: s.models, Log: opts.Log}
	if goal == "" {
		s.scorer, err = s.scorers.Load()
	} else {
		err = s.cfg.Promising(false)
	}
	return s, err
}

// Check does every check of a run that reads no text and makes nothing. The settings may be of many pairs, or name no
// languages.
func Check(cfg Config, opts Options) error {
	if err := multiway.Check(&cfg); err != nil {
		return err
	}
	cfg, err := cfg.Shown()
	if err != nil {
		return err
	}
	opts.Log = slog.New(slog.DiscardHandler) // the run will warn
	if _, err := checked("", cfg, opts); err != nil {
		return err
	}
	return simulate.Fits(&cfg, opts.Version)
}

func (s *session) close(ctx context.Context) error {
	s.early.Close()
	s.held.Release(ctx)
	return s.store.Close()
}

// report starts the report of a run that a scorer decides; nil: the margin does.
func (s *session) report(scorer *score.Named) *record.Report {
	report := config.NewReport(&s.cfg, s.Version, s.models, scorer)
	report.Started, report.Warnings = s.started, slices.Clone(s.unknown)
	return report
}

// mining returns the mining for a goal, the stage that is asked for.
func (s *session) mining(goal *stage.Descriptor, scorer *score.Named) *mining {
	return &mining{session: s, goal: goal, scorer: scorer, report: s.report(scorer)}
}

// checkSearch refuses a search that could not run. remote: other machines search.
func checkSearch(cfg *config.Config, dim int, remote bool) error {
	names := cfg.Approximate()
	switch {
	case cfg.Search != backend.Auto:
		names = []string{cfg.Search}
	case len(names) == 0:
		names = []string{exact.Name}
	}
	for _, name := range names {
		if remote && (strings.HasPrefix(name, faiss.PrefixGPU) || name == cuda.Name) {
			continue // the machines that search have the GPUs
		}
		if err := backend.Check(name, dim, cfg.SearchOptions()); err != nil {
			return err
		}
	}
	return nil
}

// UnknownLanguages warns, in the log and by what it returns, of each language that an encoder was not trained on, and
// names encoders that were, or do not say. Pairs of such a language are kept for precision alone.
func UnknownLanguages(log *slog.Logger, m *model.Model, languages [2]string) (warnings []string) {
	for _, code := range languages {
		if corpus.Lists(m.Knows(), code) {
			continue
		}
		warning := fmt.Sprintf("the encoder %s was not trained on %s (it knows %s), so few pairs are found: name another with --encoder",
			m.Name, code, strings.Join(m.Knows(), " "))
		trained, silent := encodersOf(languages)
		if len(trained) > 0 {
			warning += "; these know it: " + strings.Join(trained, " ")
		}
		warning += "; these do not say what they know: " + strings.Join(silent, " ")
		log.Warn(warning)
		warnings = append(warnings, warning)
	}
	return warnings
}

// encodersOf are the encoders in configs/models that were trained on both languages, and those that do not say.
func encodersOf(languages [2]string) (trained, silent []string) {
	files, err := fs.Glob(configs.Models, "models/*/"+model.FileName)
	if err != nil {
		return nil, nil // the pattern is fixed
	}
	for _, file := range files {
		raw, err := fs.ReadFile(configs.Models, file)
		if err != nil {
			continue
		}
		m, err := model.Decode(bytes.NewReader(raw), "configs/"+file)
		switch {
		case err != nil:
		case len(m.Knows()) == 0:
			silent = append(silent, m.Name)
		case corpus.Lists(m.Knows(), languages[0]) && corpus.Lists(m.Knows(), languages[1]):
			trained = append(trained, m.Name)
		}
	}
	return trained, silent
}
