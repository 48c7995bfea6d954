package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"bitextmine/encode"
	"bitextmine/index"
	"bitextmine/index/blas"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/store"
)

// Options is what a run needs besides its settings.
type Options struct {
	Progress progress.Reporter
	Log      *slog.Logger
	Version  string // of the program
	// OpenSearch opens a search backend by name.
	OpenSearch func(name string, threads int) (index.Searcher, error)
}

// run is the state of one run.
type run struct {
	Options
	cfg      Config
	store    *store.Store
	model    *encode.Model
	searcher index.Searcher
	report   *Report
}

// Run mines as cfg says. It leaves the bitext and run.json in cfg.Out and returns what run.json says. After a run that was
// stopped or failed, the same call goes on from what the store already has.
func Run(ctx context.Context, cfg Config, opts Options) (*Report, error) {
	err := cfg.Validate()
	if err != nil {
		return nil, err
	}
	r := &run{Options: opts, cfg: cfg}
	if r.model, err = encode.Load(cfg.Encoder); err != nil {
		return nil, err
	}
	if r.searcher, err = opts.OpenSearch(cfg.Search, cfg.Threads); err != nil {
		return nil, err
	}
	library := blas.Running()
	if warning := library.Warning(); warning != "" {
		opts.Log.Warn(warning)
	}
	r.report = newReport(r.cfg, opts.Version, r.model)
	r.report.Versions["blas"] = library.String()
	if err := r.openOut(); err != nil {
		return nil, err
	}
	if err := r.stages(ctx); err != nil {
		return nil, err
	}
	return r.report, r.report.write(filepath.Join(cfg.Out, ReportName))
}

// openOut makes the output directory and the store, and refuses a directory that holds the output of other settings.
func (r *run) openOut() error {
	if err := os.MkdirAll(r.cfg.Out, 0o755); err != nil {
		return badinput.Errorf("output directory %s cannot be made (%w); name another with --out", r.cfg.Out, err)
	}
	previous, err := ReadReport(filepath.Join(r.cfg.Out, ReportName))
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return err
	case previous.ConfigDigest != r.report.ConfigDigest && !r.cfg.Overwrite:
		return badinput.Errorf("%s holds the output of a run with other settings (%s); name another directory with --out, or replace it with --overwrite",
			r.cfg.Out, previous.Settings.differences(r.report.Settings))
	}
	r.store, err = store.Open(r.cfg.Work, r.Log)
	return err
}

func (r *run) stages(ctx context.Context) error {
	source, err := r.shardSide(ctx, false)
	if err != nil {
		return err
	}
	target, err := r.shardSide(ctx, true)
	if err != nil {
		return err
	}
	if err := r.encodeSides(ctx, source, target); err != nil {
		return err
	}
	cells, err := r.searchCells(ctx, source, target)
	if err != nil {
		return err
	}
	if err := r.matchSides(ctx, source, target, cells); err != nil {
		return fmt.Errorf("match: %w", err)
	}
	return nil
}
