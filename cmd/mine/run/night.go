package run

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/term"

	"bitextmine/cmd/mine/program"
	"bitextmine/corpus"
	"bitextmine/internal/lockfile"
	"bitextmine/pipeline"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/multiway"
	"bitextmine/pipeline/night"
	"bitextmine/pipeline/progress"
)

// nightOptions returns the options of a night. On a terminal they equal those of any run. Elsewhere, as under cron, the
// log and the progress go to out with dates, and standard error has only warnings and errors: cron mails those, and
// nothing after a night without any. fail logs why a night failed.
func nightOptions(out io.Writer) (opts pipeline.Options, fail func(error)) {
	if term.IsTerminal(int(os.Stderr.Fd())) {
		return program.RunOptions(progress.New(os.Stderr)), func(error) {}
	}
	log := &locked{out: out}
	opts = program.RunOptions(progress.Dated(log))
	file := slog.NewTextHandler(log, nil)
	opts.Log = slog.New(slog.NewMultiHandler(file, slog.NewTextHandler(os.Stderr,
		&slog.HandlerOptions{Level: slog.LevelWarn})))
	opts.Log.Info("the night begins")
	// main prints the same on standard error
	return opts, func(err error) {
		if errors.Is(err, context.Canceled) {
			slog.New(file).Warn("the night was stopped before its end")
			return
		}
		slog.New(file).Error("the night failed", "reason", err)
	}
}

// unmix sorts mixed text, where there are nights while none is under way, which reads what was sorted. A night also
// removes what earlier ones sorted of text that is gone.
func unmix(ctx context.Context, cfg *pipeline.Config, nightly bool) (err error) {
	forgets := nightly && cfg.DryRun == nil
	if _, none := os.Stat(filepath.Join(cfg.Out, night.LockName)); !multiway.Mixed(cfg) || none != nil && !forgets {
		return multiway.Unmix(ctx, cfg)
	}
	release, err := lock(cfg.Out)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	if err := multiway.Unmix(ctx, cfg); err != nil || !forgets {
		return err
	}
	return multiway.Forget(cfg)
}

// lock takes the lock of the nights in an output directory.
func lock(out string) (release func() error, err error) {
	if err := config.MakeOut(out); err != nil {
		return nil, err
	}
	return lockfile.Lock(filepath.Join(out, night.LockName))
}

// metricsOfFailure writes that a night failed to the metrics that it has not come to write, as far as its settings are
// known. A night that another one locks out leaves them to that.
func metricsOfFailure(cfg *pipeline.Config, begin time.Time, failure error) {
	if other := (*lockfile.Locked)(nil); cfg == nil || filepath.Ext(cfg.Metrics) != ".prom" || errors.As(failure, &other) {
		return
	}
	nights := []pipeline.Config{*cfg}
	if multiway.Asked(cfg) {
		pairs, err := multiway.Pairs(cfg)
		if nights = nil; err != nil {
			return
		}
		for _, p := range pairs {
			nights = append(nights, multiway.Of(*cfg, p))
		}
	}
	for _, one := range nights {
		if info, err := os.Stat(one.Metrics); err == nil && info.ModTime().After(begin) {
			continue
		}
		for _, language := range []*string{&one.Source, &one.Target} {
			if code, err := corpus.ParseLanguage(*language); err == nil {
				*language = code
			}
		}
		if err := night.WriteMetrics(one, begin, nil, failure); err != nil && !errors.Is(err, fs.ErrNotExist) {
			slog.Warn("the metrics do not say that the night failed", "reason", err)
		}
	}
}

// locked is a writer for lines of several goroutines.
type locked struct {
	mu  sync.Mutex
	out io.Writer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}
