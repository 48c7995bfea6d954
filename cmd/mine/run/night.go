package run

import (
	"io"
	"log/slog"
	"os"
	"sync"

	"golang.org/x/term"

	"bitextmine/cmd/mine/program"
	"bitextmine/pipeline"
	"bitextmine/pipeline/progress"
)

// nightOptions are the options of a night. On a terminal they are those of any run. Elsewhere, as under cron, the log
// with its progress goes to out with dates, and standard error has only warnings and errors: cron mails what is
// there, and nothing after a night in which nothing was wrong. fail logs why a night failed.
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
	// main prints the reason on standard error
	return opts, func(err error) { slog.New(file).Error("the night failed", "reason", err) }
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
