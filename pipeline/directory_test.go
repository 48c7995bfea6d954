package pipeline

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/internal/lockfile"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/view"
)

// TestRunsShareADirectory: while a run is at work, one with other settings is refused at its start, and one with the
// same is not.
func TestRunsShareADirectory(t *testing.T) {
	cfg := testConfig(corpora(t, 60), filepath.Join(t.TempDir(), "out"))
	other := cfg
	other.Threshold = 1.2
	begun, last := make(chan bool), make(chan bool)
	opts := options()
	opts.OpenEncoder = func(m *model.Model, o encode.Options) (stage.Encoder, error) {
		close(begun)
		<-last
		return openShared(m, o)
	}
	ended := make(chan error)
	go func() {
		_, err := Run(t.Context(), cfg, opts)
		ended <- err
	}()
	<-begun
	if _, err := Run(t.Context(), other, options()); !errors.As(err, new(*lockfile.Locked)) || !strings.Contains(err.Error(), "other settings writes to") {
		t.Errorf("other settings: %v", err)
	}
	mustRun(t, cfg)
	close(last)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestMovedRun: what reads a finished run finds its work directory where the output directory is now, also that of a
// night or of several pairs, which is above, and if another run has taken its old place.
func TestMovedRun(t *testing.T) {
	at := t.TempDir()
	out, moved := filepath.Join(at, "out"), filepath.Join(at, "moved")
	for _, below := range []string{"", "night", "nights/1"} {
		if err := os.RemoveAll(moved); err != nil {
			t.Fatal(err)
		}
		cfg := testConfig(corpora(t, 60), filepath.Join(out, below))
		cfg.Work = filepath.Join(out, "work")
		mustRun(t, cfg)
		if err := os.Rename(out, moved); err != nil {
			t.Fatal(err)
		}
		cfg.K, cfg.Overwrite = 3, true
		mustRun(t, cfg)
		run, err := view.Open(t.Context(), filepath.Join(moved, below), "test", slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if work := filepath.Join(moved, "work"); run.Report.Work != work {
			t.Errorf("%q: the work directory is %s, want %s", below, run.Report.Work, work)
		}
		if err := errors.Join(run.Close(), os.RemoveAll(out)); err != nil {
			t.Error(err)
		}
	}
}
