// Command mine finds translations in two piles of monolingual text.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/internal/badinput"
	"bitextmine/internal/lockfile"
	"bitextmine/internal/usage"
)

// Exit codes, as `mine --help` lists them.
const (
	exitDone      = 0
	exitRetry     = 1 // failed, worth a retry
	exitPermanent = 2 // failed for good: bad input, bad settings, a full disk
	exitLocked    = 3 // another process works in the output directory
)

// patience is the time after a first signal in which most of what runs ends.
const patience = 2 * time.Second

func main() {
	if err := usage.CheckAddressSpace(); err != nil {
		fmt.Fprintln(program.Output(os.Stderr), "mine:", err)
		os.Exit(exitPermanent)
	}
	usage.LimitHeap(0) // runs and tasks set a bound of their own
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup asks to outlive the terminal
		ends = append(ends, syscall.SIGHUP)
	}
	// A crash ends by a signal and with none of the codes above. Go's own code for one is 2.
	debug.SetTraceback("crash")
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	context.AfterFunc(ctx, func() {
		stop() // a second signal ends the program at once
		time.AfterFunc(patience, func() {
			slog.Warn("stopping, once a step that cannot be interrupted is done, such as FAISS's training of an index; a second signal ends the program at once")
		})
	})
	code := execute(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

func execute(ctx context.Context, args []string) int {
	stopTracing, err := startTracing(ctx)
	if err != nil {
		slog.Warn("there are no traces", "reason", err)
	} else {
		defer func() {
			if err := stopTracing(); err != nil {
				slog.Warn("traces are lost", "reason", err)
			}
		}()
	}
	root := newRoot()
	root.SetArgs(flags.GatherLists(root, args))
	err = root.ExecuteContext(ctx)
	switch {
	case err == nil:
		return exitDone
	case errors.Is(err, context.Canceled):
		slog.Error("stopped before the end; " + program.AfterStop(err))
		return exitRetry
	}
	err = program.OpenFiles(program.MissingEncoder(err))
	fmt.Fprintln(root.ErrOrStderr(), "mine:", err)
	if locked := (*lockfile.Locked)(nil); errors.As(err, &locked) {
		return exitLocked
	}
	if badinput.Is(err) {
		return exitPermanent
	}
	return exitRetry
}
