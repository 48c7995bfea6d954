package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"bitextmine/corpus"
	"bitextmine/encode"
	"bitextmine/index/backend"
	"bitextmine/index/blas"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/engine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/store"
	"bitextmine/score"
)

// outLockName is held in the output directory while a run writes its bitext and report there.
const outLockName = "run.lock"

// Options is what a run needs besides its settings.
type Options struct {
	Progress progress.Reporter
	Log      *slog.Logger
	Version  string // of the program
	// OpenEncoder opens an encoder; nil: encode.Open.
	OpenEncoder func(model *encode.Model, options encode.Options) (Encoder, error)
	// OpenStore opens the store at a location; nil: store.Open.
	OpenStore func(ctx context.Context, location string, log *slog.Logger) (*store.Store, error)
}

func (o Options) openEncoder(model *encode.Model, options encode.Options) (Encoder, error) {
	if o.OpenEncoder != nil {
		return o.OpenEncoder(model, options)
	}
	return encode.Open(model, options)
}

func (o Options) openStore(ctx context.Context, location string) (*store.Store, error) {
	if o.OpenStore != nil {
		return o.OpenStore(ctx, location, o.Log)
	}
	return store.Open(ctx, location, o.Log)
}

// run is the state of one run.
type run struct {
	Options
	cfg      Config
	store    *store.Store
	model    *encode.Model
	search   searching
	costs    *backend.Calibration // once measured
	scorer   *score.Named         // nil: the margin decides
	engine   engine.Engine
	remote   bool // the engine runs tasks in other processes
	report   *Report
	previous *Report // of the run whose output is in the output directory; nil if there is none
}

// Run mines as cfg says. It leaves the bitext and run.json in cfg.Out and returns what run.json says. After a run that was
// stopped or failed, the same call goes on from what the store already has.
func Run(ctx context.Context, cfg Config, opts Options) (_ *Report, err error) {
	r, err := newRun(ctx, cfg, opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.store.Close()) }()
	if err := r.openOut(); err != nil {
		return nil, err
	}
	p, err := r.mine(ctx)
	if err != nil || cfg.DryRun != nil {
		return r.report, err
	}
	release, err := await(ctx, filepath.Join(r.cfg.Out, outLockName))
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
	if low := r.report.Search.warning(); low != "" {
		opts.Log.Warn(low)
	}
	return r.report, r.report.write(filepath.Join(r.cfg.Out, ReportName))
}

// newRun opens what cfg names.
func newRun(ctx context.Context, cfg Config, opts Options) (*run, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	r := &run{Options: opts, cfg: cfg}
	if cfg.maxMemory > 0 {
		debug.SetMemoryLimit(cfg.maxMemory / 4 * 3) // the rest is for what is not Go's
	}
	library := blas.Running()
	if warning := library.Warning(); warning != "" {
		opts.Log.Warn(warning)
	}
	var err error
	if r.model, err = encode.Load(cfg.Encoder); err != nil {
		return nil, err
	}
	r.warnLanguages()
	if r.engine, r.remote, err = cfg.engine(); err != nil {
		return nil, err
	}
	if err := r.checkSearch(); err != nil {
		return nil, err
	}
	r.search = settled(cfg.Search)
	if cfg.ONNXRuntime != "" && !r.remote { // else it is looked for when there is something to encode
		if _, err := encode.CheckRuntime(cfg.ONNXRuntime); err != nil {
			return nil, err
		}
	}
	if err := r.loadScorer(); err != nil {
		return nil, err
	}
	r.report = newReport(cfg, opts.Version, r.model, r.scorer)
	r.report.Versions["blas"] = library.String()
	if err := os.MkdirAll(cfg.Out, 0o755); err != nil {
		return nil, badinput.Errorf("output directory %s cannot be made (%w); name another with --out", cfg.Out, err)
	}
	r.store, err = opts.openStore(ctx, cfg.Work)
	return r, err
}

// Digest stands for all that decides the bitext of a run: the text, the encoder, the scorer and the settings. It reads the files.
func Digest(cfg Config) (string, error) {
	if err := cfg.Validate(); err != nil {
		return "", err
	}
	r := &run{cfg: cfg, Options: Options{Log: slog.New(slog.DiscardHandler)}} // the run itself will say what there is to say
	var err error
	if r.model, err = encode.Load(cfg.Encoder); err != nil {
		return "", err
	}
	if err := r.loadScorer(); err != nil {
		return "", err
	}
	sides, err := cfg.sides()
	if err != nil {
		return "", err
	}
	return digestOf([]any{cfg.record(r.model.Digest, scorerDigest(r.scorer, r.model.Tokens)), sides}), nil
}

// warnLanguages tells of a language that the encoder was not trained on: it encodes any text, but pairs of it mean little.
func (r *run) warnLanguages() {
	base := func(code string) string { // the script aside
		if canonical, err := corpus.ParseLanguage(code); err == nil {
			code = canonical
		}
		language, _, _ := strings.Cut(code, "-")
		return language
	}
	known := map[string]bool{}
	for _, code := range r.model.Languages {
		known[base(code)] = true
	}
	for _, code := range []string{r.cfg.Source, r.cfg.Target} {
		if len(known) > 0 && !known[base(code)] {
			r.Log.Warn("the encoder was not trained on the language; look at the pairs before they are used, or name another encoder",
				"language", code, "encoder", r.model.Name, "languages", strings.Join(r.model.Languages, " "))
		}
	}
}

// openOut refuses a directory that holds the output of other settings.
func (r *run) openOut() error {
	previous, err := ReadReport(filepath.Join(r.cfg.Out, ReportName))
	switch {
	case errors.Is(err, os.ErrNotExist), r.cfg.Overwrite:
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
	ctx, span := startSpan(ctx, "run", attribute.String("src", r.cfg.Source), attribute.String("tgt", r.cfg.Target))
	defer func() { endSpan(span, err) }()
	p, id, err := r.plan(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.enter(ctx, id); err != nil {
		return nil, err
	}
	if err := r.execute(ctx, p, id); err != nil || r.cfg.DryRun != nil {
		return p, err
	}
	return p, r.keepLedger(ctx, p)
}

// plan cuts the text into shards, settles how they are searched, and keeps the plan of the rest, whose id it returns.
func (r *run) plan(ctx context.Context) (*plan.Plan, string, error) {
	sides, err := r.shard(ctx)
	if err != nil {
		return nil, "", err
	}
	if err := r.checkNeighbours(ctx, sides); err != nil {
		return nil, "", err
	}
	if err := r.checkIndex(sides); err != nil {
		return nil, "", err
	}
	if err := r.settleSearch(ctx, sides); err != nil {
		return nil, "", err
	}
	r.report.Search = SearchReport{searching: r.search, Floor: r.cfg.SearchRecall}
	p, err := r.planMining(ctx, sides)
	if err != nil {
		return nil, "", err
	}
	if r.search.Backend != r.search.Result {
		p.Backend = r.search.Backend
	}
	demand(p, r.search.Backend, r.cfg.Threads)
	id, err := r.keepPlan(ctx, p)
	return p, id, err
}

// shard cuts every input and returns the sides with their shards.
func (r *run) shard(ctx context.Context) (sides [2]plan.Side, err error) {
	if sides, err = r.cfg.sides(); err != nil {
		return sides, err
	}
	p := plan.Sharding(r.Version, r.settings(), sides)
	id, err := r.keepPlan(ctx, p)
	if err != nil {
		return sides, err
	}
	if r.cfg.DryRun != nil { // what is to be printed depends on the shards
		here := *r
		here.engine, here.remote, here.cfg.DryRun = engine.Local{Cores: r.cfg.Threads, MaxMemory: r.cfg.maxMemory}, false, nil
		err = here.execute(ctx, p, id)
	} else {
		err = r.execute(ctx, p, id)
	}
	if err != nil {
		return sides, err
	}
	for s := range sides {
		for _, in := range sides[s].Inputs {
			info, err := sharding(ctx, r.store, in, p.Settings)
			if err != nil {
				return sides, err
			}
			sides[s].Shards = append(sides[s].Shards, plan.Named(in, plan.ShardKey(in, p.Settings), info.Shards)...)
			r.report.Inputs = append(r.report.Inputs, InputReport{sides[s].Language, in.Path, in.SHA256, info.Counts})
		}
	}
	return sides, nil
}

// planMining plans everything after sharding, from the neighbours that earlier runs left.
func (r *run) planMining(ctx context.Context, sides [2]plan.Side) (*plan.Plan, error) {
	ledger, err := r.readLedger(ctx, sides)
	if err != nil {
		return nil, err
	}
	return plan.Mining(r.Version, r.settings(), sides, ledger), nil
}

// settings returns the settings as specs take them.
func (r *run) settings() plan.Settings {
	return r.cfg.planSettings(r.model, r.search.Result, scorerDigest(r.scorer, r.model.Tokens), r.report.ConfigDigest)
}

// deliver copies the bitext into a directory and completes the report.
func (r *run) deliver(ctx context.Context, p *plan.Plan, dir string) error {
	match := p.Waves[len(p.Waves)-1].Tasks[0]
	out, err := r.store.Get(ctx, store.Task{Stage: plan.Match, Key: match.Key})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the bitext is not in %s any more; run again", r.cfg.Work)
	}
	if err != nil {
		return err
	}
	info, err := readMatched(out)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%s.parquet", r.cfg.Source, r.cfg.Target))
	if err := atomicfile.Copy(path, out.Path(bitextName)); err != nil {
		return err
	}
	file := out.Files[0]
	r.report.RunID, r.report.Counts, r.report.Samples = info.RunID, info.Counts, info.Samples
	r.report.Threshold, r.report.Search.Recall = info.Threshold, info.Least
	r.report.Bitext = BitextReport{Path: path, Rows: info.Rows, Bytes: file.Size, SHA256: file.SHA256}
	return nil
}
