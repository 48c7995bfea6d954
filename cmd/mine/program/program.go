// Package program has the version of the program and how commands call the pipeline.
package program

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/index"
	"bitextmine/index/approximate"
	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spelling"
	"bitextmine/model/importer"
	"bitextmine/pipeline"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/progress"
)

// Version is the program's. Keys and the bitext hold it, so the commit is not part of it.
const Version = "0.1.0"

// Stopped is the error of a command that a signal ended and that does not simply begin anew.
type Stopped struct {
	error
	Next string // how it goes on
}

// Unwrap returns the signal's error.
func (s Stopped) Unwrap() error { return s.error }

// StoppedBut returns err with what to do next.
func StoppedBut(err error, next string) error { return Stopped{err, next} }

// AfterStop names the next step after a command was stopped.
func AfterStop(err error) string {
	if stopped := (Stopped{}); errors.As(err, &stopped) {
		return stopped.Next
	}
	return "the same command begins anew, as nothing is kept"
}

// GoesOn is for commands that keep what they have done: after a stop the same call does what is left.
func GoesOn(cmd *cobra.Command) *cobra.Command {
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		if errors.Is(err, context.Canceled) {
			return StoppedBut(err, "the same command does what is left")
		}
		return err
	}
	return cmd
}

// RunOptions returns the options that commands pass to the pipeline.
func RunOptions(reporter progress.Reporter) pipeline.Options {
	return pipeline.Options{Progress: reporter, Log: slog.Default(), Version: Version}
}

// Describe says what the program was built from; info may be nil.
func Describe(info *debug.BuildInfo) string {
	if info == nil {
		return Version
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true":
			changed = " with changes"
		}
	}
	if commit == "" {
		return fmt.Sprintf("%s, built without a record of the commit, %s", Version, info.GoVersion)
	}
	return fmt.Sprintf("%s, commit %s%s, %s", Version, commit, changed, info.GoVersion)
}

// OpenEncoder opens the encoder that the settings name, with its manifest.
func OpenEncoder(cfg *pipeline.Config) (*model.Model, *encode.Encoder, error) {
	m, err := model.Load(cfg.Encoder)
	if err != nil {
		return nil, nil, err
	}
	options, err := config.OptionsOf(cfg, m)
	if err != nil {
		return nil, nil, err
	}
	e, err := encode.Open(m, options)
	return m, e, err
}

// OpenSearch opens the search of a command that is no run. Auto is exact there: the fastest exact search finds the
// same, and only a run measures which one that is.
func OpenSearch(cfg *pipeline.Config) (index.Searcher, error) {
	name, opts := cfg.Search, cfg.SearchOptions()
	if name == backend.Auto {
		name, opts.Approximate = exact.Name, approximate.Settings{} // settings of searches that auto might take
	}
	return backend.Open(name, opts)
}

// OpenFiles returns err, or if the process may open no more files, with what to do.
func OpenFiles(err error) error {
	if errors.Is(err, syscall.EMFILE) {
		return fmt.Errorf("%w; raise the limit (ulimit -n), then run the same command again", err)
	}
	return err
}

// MissingEncoder returns err, or if it says that there is no encoder of a name, how to get the one that was meant.
func MissingEncoder(err error) error {
	missing := (*model.Missing)(nil)
	if !errors.As(err, &missing) || missing.Elsewhere() {
		return err
	}
	all, failed := importer.Known()
	meant, _ := importer.FindKnown(missing.Ref)
	switch {
	case failed != nil:
		return errors.Join(err, failed)
	case meant != nil && meant.Source.Hub == "":
		return importer.NotOnHub(meant)
	case meant != nil:
		return badinput.Errorf("the encoder %[1]s is not on this machine; `mine model get %[1]s` downloads it into ./%[1]s", meant.Name)
	case strings.ContainsAny(missing.Ref, `/\`) || strings.HasSuffix(missing.Ref, ".yaml"):
		return err
	}
	names := model.BuiltIn()
	for _, m := range all {
		names = append(names, m.Name)
	}
	if meant := spelling.Close(missing.Ref, names); meant != "" {
		return badinput.Errorf("no encoder is called %q; did you mean %s?", missing.Ref, meant)
	}
	slices.Sort(names)
	return badinput.Errorf("no encoder is called %q; name the directory of one, or one of %s", missing.Ref,
		strings.Join(names, ", "))
}

// Told is where a command says what it has written to a path: out, but not if it is a stream, which out may be, too.
func Told(out io.Writer, path string) io.Writer {
	if atomicfile.IsStream(path) {
		return os.Stderr
	}
	return out
}
