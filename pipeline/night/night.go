package night

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"bitextmine/bitext/label"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
)

// The names in the output directory of nightly runs.
const (
	LatestName  = record.LatestName // a link to the last run's directory in runs/
	SummaryName = "summary.md"

	LockName = "nightly.lock" // held while a night is under way
)

// Night is one run of nightly mining.
type Night struct {
	Config  config.Config // validated
	Version string        // the program's version
	Log     *slog.Logger
	// Mine executes a run whose predecessor is previous, nil for the first, and returns its report. It calls begun before
	// the first task of the bitext, and delivers the bitext into the directory that dir returns after the last.
	Mine func(
		ctx context.Context, previous *record.Report, begun func(*record.Report), dir func(*record.Report) (string, error),
	) (*record.Report, error)
	// OpenStore opens the store at a location.
	OpenStore func(ctx context.Context, location string) (*store.Store, error)

	previous *record.Report
	before   string // directory of previous
	warnings []string
}

// Run mines one night. Its bitext, run.json and summary go into OUT/runs/NUMBER-DATE, to which OUT/latest leads then;
// runs beyond the last Keep are removed. Numbers only rise, so that a clock which jumps back hides no run. Only one Run
// is active in OUT: another is a *lockfile.Locked error.
func (n *Night) Run(ctx context.Context) (report *record.Report, err error) {
	begin, cfg := time.Now(), n.Config
	if dir := filepath.Dir(cfg.Metrics); cfg.Metrics != "" && !isDirectory(dir) {
		return nil, badinput.Errorf("metrics = %s: there is no directory %s; make it, or name another file with --metrics",
			cfg.Metrics, dir)
	}
	if err := config.MakeOut(filepath.Join(cfg.Out, label.RunsName)); err != nil {
		return nil, err
	}
	release, err := lockfile.Lock(filepath.Join(cfg.Out, LockName))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	defer func() {
		if cfg.Metrics != "" {
			err = errors.Join(err, WriteMetrics(cfg, begin, report, err))
		}
	}()
	out := Directory(cfg.Out)
	if err := out.refuseOwn(); err != nil {
		return nil, err
	}
	if err := n.readPrevious(out); err != nil {
		return nil, err
	}
	if n.previous != nil && n.previous.Started.After(begin) {
		n.warn("the clock went back: the run before began at %s", n.previous.Started.Format(time.RFC3339))
	}
	if report, err = n.publish(ctx, out); err != nil {
		return nil, err
	}
	if err := out.Prune(cfg.Keep, cfg.OneOfMany); err != nil {
		return report, err
	}
	swept, err := n.sweep(ctx)
	if err != nil {
		return report, fmt.Errorf("the bitext is there, but the work directory could not be swept: %w", err)
	}
	n.Log.Info("swept the work directory", "removed", swept)
	return report, nil
}

// readPrevious reads the report of the run before.
func (n *Night) readPrevious(out Directory) (err error) {
	var warning string
	if n.previous, n.before, warning, err = out.Last(); err == nil && warning != "" {
		n.warn("%s", warning)
	}
	return err
}

func isDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// sweep removes from the work directory what the last run does not need.
func (n *Night) sweep(ctx context.Context) (_ *admin.Swept, err error) {
	st, err := n.OpenStore(ctx, n.Config.Work)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	return admin.GC(ctx, st, admin.Sweep{Keep: 1, Cells: n.Config.SweepCells, Older: 24 * time.Hour}, n.Version, n.Log)
}

func (n *Night) warn(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	n.warnings = append(n.warnings, text)
	n.Log.Warn(text)
}

// compare warns of settings that changed since the run before.
func (n *Night) compare(report *record.Report) {
	if n.previous != nil && n.previous.ConfigDigest != report.ConfigDigest {
		n.warn("the settings changed: %s", n.previous.Differences(report))
	}
}

// publish mines and publishes the night's directory whole.
func (n *Night) publish(ctx context.Context, out Directory) (*record.Report, error) {
	name := ""
	report, err := n.Mine(ctx, n.previous, n.compare, func(report *record.Report) (string, error) {
		number, err := out.Next()
		if err != nil {
			return "", err
		}
		name = fmt.Sprintf("%06d-%s", number, report.Started.Local().Format(time.DateOnly))
		_, dir := out.Night(name)
		if err := os.Mkdir(dir, 0o777); err != nil {
			return "", fmt.Errorf("make the night's directory: %w", err)
		}
		return dir, nil
	})
	if err != nil {
		return nil, err
	}
	n.warnings = append(n.warnings, report.Warnings...)
	final, dir := out.Night(name)
	report.Bitext.Path = filepath.Join(final, filepath.Base(report.Bitext.Path))
	if err := report.Write(filepath.Join(dir, record.ReportName)); err != nil {
		return nil, err
	}
	changes := n.changes(ctx, report, dir, final)
	page := morningPage(name, report, n.previous, changes, n.warnings)
	if err := atomicfile.WriteBytes(filepath.Join(dir, SummaryName), page); err != nil {
		return nil, err
	}
	return report, out.Publish(name)
}

// changes compares a night, whose directory will be final, with the run before; nil: there is none, or it cannot be
// compared.
func (n *Night) changes(ctx context.Context, report *record.Report, dir, final string) *admin.Difference {
	if n.previous == nil {
		return nil
	}
	need, bound := admin.DiffMemory(n.previous.Counts.Kept+report.Counts.Kept), n.Config.MemoryBound()
	if bound > 0 && need > bound {
		n.warn("the run before is not compared with, which takes %s of memory, more than max_memory = %s: mine diff does it",
			plan.Bytes(need), plan.Bytes(bound))
		return nil
	}
	changes, err := admin.Diff(ctx, n.before, filepath.Join(dir, filepath.Base(report.Bitext.Path)))
	if err != nil {
		n.warn("the run before cannot be compared with: %s", strings.ReplaceAll(err.Error(), dir, final))
	}
	return changes
}
