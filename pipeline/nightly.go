package pipeline

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/night"
	"bitextmine/pipeline/record"
)

// The names in the output directory of nightly runs.
const (
	LatestName  = record.LatestName // a link to the last run's directory in runs/
	SummaryName = "summary.md"

	lockName = "nightly.lock"
)

// Nightly is one night's Run. Its bitext, run.json and summary go into OUT/runs/NUMBER-DATE, to which OUT/latest leads
// then; runs beyond the last cfg.Keep go. Numbers only rise, so that a clock which jumps back hides no run. Only one
// Nightly runs in OUT: another is a *lockfile.Locked error.
func Nightly(ctx context.Context, cfg Config, opts Options) (report *record.Report, err error) {
	begin := time.Now()
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if dir := filepath.Dir(cfg.Metrics); cfg.Metrics != "" && !isDirectory(dir) {
		return nil, badinput.Errorf("metrics = %s: there is no directory %s; make it, or name another file with --metrics", cfg.Metrics, dir)
	}
	if err := os.MkdirAll(filepath.Join(cfg.Out, night.RunsName), 0o755); err != nil {
		return nil, badinput.Errorf("output directory %s cannot be made (%w); name another with --out", cfg.Out, err)
	}
	release, err := lockfile.Lock(filepath.Join(cfg.Out, lockName))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	var previous *record.Report
	if previous, err = record.ReadReport(filepath.Join(cfg.Out, LatestName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		opts.Log.Warn("the last run's report cannot be read; the summary compares with nothing", "damage", err)
	}
	defer func() {
		if cfg.Metrics != "" && ctx.Err() == nil {
			err = errors.Join(err, night.WriteMetrics(cfg, begin, report, previous, err))
		}
	}()
	n := &nightly{out: night.Directory(cfg.Out), previous: previous, opts: opts}
	if previous != nil && previous.Started.After(begin) {
		n.warn("the clock went back: the run before began at %s", previous.Started.Format(time.RFC3339))
	}
	if report, err = n.run(ctx, cfg); err != nil {
		return nil, err
	}
	if err := n.out.Prune(cfg.Keep); err != nil {
		return report, err
	}
	swept, err := sweep(ctx, cfg, opts)
	if err != nil {
		return report, fmt.Errorf("the bitext is there, but the work directory could not be swept: %w", err)
	}
	opts.Log.Info("swept the work directory", "removed", swept)
	return report, nil
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// sweep removes from the work directory what the last run does not need.
func sweep(ctx context.Context, cfg Config, opts Options) (_ *admin.Swept, err error) {
	st, err := opts.openStore(ctx, cfg.Work)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return admin.GC(ctx, st, admin.Sweep{Keep: 1, Cells: cfg.SweepCells, Older: 24 * time.Hour}, opts.Version, opts.Log)
}

// nightly is one night.
type nightly struct {
	out      night.Directory
	previous *record.Report // of the run before; nil if there is none
	opts     Options
	warnings []string
}

func (n *nightly) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	n.warnings = append(n.warnings, text)
	n.opts.Log.Warn(text)
}

// run mines and publishes the night's directory whole.
func (n *nightly) run(ctx context.Context, cfg Config) (_ *record.Report, err error) {
	r, err := newRun(ctx, cfg, n.opts)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.close(ctx)) }()
	if err := r.settleScorer(ctx); err != nil {
		return nil, err
	}
	if n.previous != nil && n.previous.ConfigDigest != r.report.ConfigDigest {
		n.warn("the settings changed: %s", n.previous.Settings.Differences(r.report.Settings))
	}
	r.previous = n.previous
	p, err := r.mine(ctx)
	if err != nil {
		return nil, err
	}
	number, err := n.out.Next()
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%06d-%s", number, r.report.Started.Local().Format(time.DateOnly))
	final, dir := n.out.Night(name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make the night's directory: %w", err)
	}
	if err := r.deliver(ctx, p, dir); err != nil {
		return nil, err
	}
	n.warnings = append(n.warnings, r.report.Warnings...)
	bitextFile := filepath.Base(r.report.Bitext.Path)
	r.report.Bitext.Path = filepath.Join(final, bitextFile)
	if err := r.report.Write(filepath.Join(dir, record.ReportName)); err != nil {
		return nil, err
	}
	var changes *admin.Difference
	if n.previous != nil {
		if changes, err = admin.Diff(ctx, filepath.Join(string(n.out), LatestName), filepath.Join(dir, bitextFile)); err != nil {
			n.warn("the run before cannot be compared with: %v", err)
		}
	}
	if err := atomicfile.WriteBytes(filepath.Join(dir, SummaryName), night.Page(name, r.report, n.previous, changes, n.warnings)); err != nil {
		return nil, err
	}
	return r.report, n.out.Publish(name)
}
