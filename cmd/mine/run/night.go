package run

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"sync"

	"golang.org/x/term"

	"bitextmine/cmd/mine/program"
	"bitextmine/pipeline"
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
