package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"go.opentelemetry.io/otel/attribute"

	"bitextmine/encode"
	"bitextmine/encode/gpu"
	"bitextmine/encode/model"
	"bitextmine/encode/session"
	"bitextmine/index/blas"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/internal/usage"

	"bitextmine/pipeline/config"
	"bitextmine/pipeline/engine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/scorer"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/stage/calibrate"
	"bitextmine/pipeline/stage/match"
	"bitextmine/pipeline/stage/search"
	"bitextmine/pipeline/store"
	"bitextmine/pipeline/view"
	"bitextmine/score"
)

// outLockName is held in the output directory while a run writes its bitext and report there.
const outLockName = "run.lock"

// Config is the settings of a run.
type Config = config.Config

// Options is what a run needs besides its settings.
type Options struct {
	Progress progress.Reporter
	Log      *slog.Logger
	Version  string // of the program
	// Planned are tasks, as stage/key, that other runs will have done before the one that Plan is asked of; Plan adds its
	// own. nil: there are none.
	Planned map[string]bool
	// OpenEncoder opens an encoder; nil: encode.Open.
	OpenEncoder func(model *model.Model, options encode.Options) (stage.Encoder, error)
	// OpenStore opens the store at a location; nil: store.Open.
	OpenStore func(ctx context.Context, location string, log *slog.Logger) (*store.Store, error)
}

func (o Options) openStore(ctx context.Context, location string) (*store.Store, error) {
	if o.OpenStore != nil {
		return o.OpenStore(ctx, location, o.Log)
	}
	return store.Open(ctx, location, o.Log)
}

// run is the state of one run. It has 34 methods because planning, sharding, the choice of a search and of a scorer,
// the estimates and the execution of one run are steps that each need its settings, languages, store and progress; a
// file has one step.
type run struct {
	Options
	cfg      Config
	store    *store.Store
	held     record.Held // plans
	model    *model.Model
	refiner  *model.Model // of two-stage mining; nil: there is none
	search   search.Choice
	chooser  search.Chooser
	scorer   *score.Named         // nil: the margin decides, or it is yet to be fitted
	unfitted bool                 // a scorer is to be fitted on the way
	fitted   []record.StageReport // what that cost in this run
	engine   engine.Engine
	remote   bool // the engine runs tasks in other processes
	report   *record.Report
	previous *record.Report // of the run whose output is in the output directory; nil if there is none
}

// Run mines as cfg says. It leaves the bitext and run.json in cfg.Out and returns what run.json says. After a run that
// was stopped or failed, the same call goes on from what the store already has.
func Run(ctx context.Context, cfg Config, opts Options) (_ *record.Report, err error) {
	r, err := newRun(ctx, cfg, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close(ctx)) }()
	if err := r.settleScorer(ctx); err != nil {
		return nil, err
	}
	if err := r.openOut(); err != nil {
		return nil, err
	}
	p, err := r.mine(ctx)
	if err != nil || cfg.DryRun != nil {
		return r.report, err
	}
	release, err := lockfile.Await(ctx, filepath.Join(r.cfg.Out, outLockName))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := r.openOut(); err != nil { // again: another run may have ended here meanwhile
		return nil, err
	}
	if err := r.deliver(ctx, p, r.cfg.Out); err != nil {
		return nil, err
	}
	return r.report, r.report.Write(filepath.Join(r.cfg.Out, record.ReportName))
}

func (r *run) close(ctx context.Context) error {
	r.held.Release(ctx)
	return r.store.Close()
}

// newRun opens what cfg names.
func newRun(ctx context.Context, cfg Config, opts Options) (*run, error) {
	return newRunFor(ctx, "", cfg, opts)
}

// newRunFor is newRun for a goal other than the bitext, for which no scorer is needed.
func newRunFor(ctx context.Context, goal string, cfg Config, opts Options) (*run, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if goal == calibrate.Stage.Name && cfg.Refine != "" {
		return nil, badinput.Errorf("refine = %s: mine calibrate looks at the margins of one encoder; leave refine out", cfg.Refine)
	}
	if goal != "" && config.UnnamedEncoder(&cfg) {
		return nil, badinput.Errorf("known pairs must be encoded as src_emb and tgt_emb were: name the encoder that made them with --encoder")
	}
	r := &run{Options: opts, cfg: cfg}
	usage.LimitHeap(cfg.MemoryBound())
	library := blas.Running()
	if warning := library.Warning(); warning != "" {
		opts.Log.Warn(warning)
	}
	var err error
	if r.model, r.refiner, err = config.Models(&cfg); err != nil {
		return nil, err
	}
	r.cfg = cfg // with what computes them
	for _, m := range []*model.Model{r.model, r.refiner} {
		if m != nil {
			checkLanguages(opts.Log, m, cfg.Languages)
		}
	}
	if r.engine, r.remote, err = cfg.NewEngine(); err != nil {
		return nil, err
	}
	if err := checkSearch(&cfg, r.model.Dim, r.remote); err != nil {
		return nil, err
	}
	r.search = search.As(cfg.Search)
	r.chooser = search.Chooser{
		Settings: cfg.Searching, Options: cfg.SearchOptions(), Dim: r.model.Dim, K: cfg.K,
		Engine: cfg.Engine, Remote: r.remote, MemoryLimit: usage.MemoryWithin(cfg.MemoryBound()),
	}
	if cfg.ONNXRuntime != "" && !r.remote { // else it is looked for when there is something to encode
		if _, err := session.CheckRuntime(cfg.ONNXRuntime, gpu.Device{}); err != nil {
			return nil, err
		}
	}
	if goal == "" {
		if err := r.loadScorer(); err != nil {
			return nil, err
		}
	}
	r.report = config.NewReport(&cfg, opts.Version, r.model, r.refiner, r.scorer)
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, badinput.Errorf("output directory %s cannot be made (%w); name another with --out", cfg.Out, err)
	}
	r.store, err = opts.openStore(ctx, cfg.Work)
	return r, err
}

// Digest stands for all that decides the bitext of a run: the text, the encoder, the scorer and the settings. It reads
// the files.
func Digest(cfg Config) (string, error) {
	if err := cfg.Validate(); err != nil {
		return "", err
	}
	r := &run{cfg: cfg, Options: Options{Log: slog.New(slog.DiscardHandler)}} // the run itself will warn
	var err error
	if r.model, r.refiner, err = config.Models(&cfg); err != nil {
		return "", err
	}
	if err := r.loadScorer(); err != nil {
		return "", err
	}
	languages, err := cfg.Texts()
	if err != nil {
		return "", err
	}
	settings, _ := config.NewRecord(&cfg, r.model, r.refiner, r.scorer)
	of := []any{settings, languages}
	if r.unfitted { // what else it depends on is the text
		of = append(of, r.fittedName())
	}
	return plan.Digest(of), nil
}

// openOut refuses a directory that holds the output of other settings.
func (r *run) openOut() error {
	previous, err := record.ReadReport(r.cfg.Out)
	switch {
	case errors.Is(err, fs.ErrNotExist), r.cfg.Overwrite:
	case err != nil:
		return err
	case previous.ConfigDigest != r.report.ConfigDigest:
		return badinput.Errorf("%s holds the output of a run with other settings (%s); name another directory with --out, or replace it with --overwrite",
			r.cfg.Out, previous.Settings.Differences(r.report.Settings))
	}
	r.previous = previous
	return nil
}

// mine runs the two plans and returns the second.
func (r *run) mine(ctx context.Context) (_ *plan.Plan, err error) {
	ctx, span := record.StartSpan(ctx, "run", attribute.String("src", r.cfg.Source), attribute.String("tgt", r.cfg.Target))
	defer func() { record.EndSpan(span, err) }()
	p, err := r.plan(ctx, nil)
	if err != nil {
		return nil, err
	}
	if err := r.enter(ctx, ""); err != nil {
		return nil, err
	}
	if err := r.execute(ctx, p); err != nil || r.cfg.DryRun != nil {
		return p, err
	}
	return p, r.writeLedgers(ctx, p)
}

// enter adds the run to the store's history; goal is the stage that was asked for, empty for the bitext.
func (r *run) enter(ctx context.Context, goal string) error {
	return record.Enter(ctx, r.store, record.Run{Plan: r.report.PlanID, Goal: goal, Out: r.cfg.Out, Source: r.cfg.Source, Target: r.cfg.Target})
}

// deliver copies the bitext into a directory and completes the report.
func (r *run) deliver(ctx context.Context, p *plan.Plan, dir string) error {
	out, err := r.store.Get(ctx, store.Task{Stage: match.Stage.Name, Key: p.Pairs[0].Bitext})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the bitext is not in %s any more; run again", r.cfg.Work)
	}
	if err != nil {
		return err
	}
	result, err := match.ReadResult(out)
	if err != nil {
		return err
	}
	// it reads the store, so it comes before anything is published
	if err := scorer.Warn(ctx, view.NewFiles(r.store, p, r.cfg.Work), r.warn); err != nil {
		return err
	}
	r.report.Stages = record.Joined(r.fitted, r.report.Stages)
	path := filepath.Join(dir, fmt.Sprintf("%s-%s.parquet", r.cfg.Source, r.cfg.Target))
	if err := atomicfile.Copy(path, out.Path(view.BitextFile)); err != nil {
		return err
	}
	file := out.Files[0]
	r.report.RunID, r.report.Counts, r.report.Samples = result.RunID, result.Counts, result.Samples
	r.report.Cut = result.Cut
	r.report.Threshold, r.report.Search.Recall, r.report.Rejected = result.Threshold, result.Min, result.Rejected
	if low := r.report.Search.Warning(); low != "" {
		r.warn("%s", low)
	}
	if much := r.report.RejectedWarning(); much != "" {
		r.warn("%s", much)
	}
	r.report.Bitext = record.BitextReport{Path: path, Rows: result.Rows, Bytes: file.Size, SHA256: file.SHA256}
	return nil
}
