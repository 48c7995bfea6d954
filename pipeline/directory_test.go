package pipeline

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
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
	if _, err := Run(t.Context(), other, options()); !badinput.Is(err) || !strings.Contains(err.Error(), "other settings writes to") {
		t.Errorf("other settings: %v", err)
	}
	mustRun(t, cfg)
	close(last)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestMovedRun: what reads a finished run finds its work directory where the output directory is now.
func TestMovedRun(t *testing.T) {
	at := t.TempDir()
	mustRun(t, testConfig(corpora(t, 60), filepath.Join(at, "out")))
	if err := os.Rename(filepath.Join(at, "out"), filepath.Join(at, "moved")); err != nil {
		t.Fatal(err)
	}
	run, err := view.Open(t.Context(), filepath.Join(at, "moved"), "test", slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Close(); err != nil {
		t.Error(err)
	}
}
