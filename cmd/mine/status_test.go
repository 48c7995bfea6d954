package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/admin"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/store"
)

// received hands over everything that is written.
type received chan string

func (r received) Write(text []byte) (int, error) {
	r <- string(text)
	return len(text), nil
}

// TestStatusIsWatchedFromTheBeginning: mine status --watch waits for the plan of a run that still reads its text, and
// ends without an error when it is stopped.
func TestStatusIsWatchedFromTheBeginning(t *testing.T) {
	work := t.TempDir()
	if _, err := command(t, "status", "--work", work); !errors.Is(err, admin.ErrNoRun) || !badinput.Is(err) {
		t.Errorf("without --watch: %v", err)
	}
	ctx, stop := context.WithCancel(t.Context())
	printed, ended := make(received), make(chan error, 1)
	root := newRoot()
	root.SetOut(printed)
	root.SetArgs([]string{"status", "--watch=1ms", "--work", work})
	go func() { ended <- root.ExecuteContext(ctx) }()
	if text := <-printed; text != "no run is planned yet\n" {
		t.Errorf("it says %q", text)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestStatusIsWatched: mine status --watch prints again what has changed, nothing while nothing does, and ends when all
// is done.
func TestStatusIsWatched(t *testing.T) {
	out := filepath.Join(t.TempDir(), "mined")
	work := filepath.Join(out, "work")
	if code, _, said := captured(t, "run", "--src", "de", "--tgt", "en", "--encoder", fixtures.Encoder, "--out", out); code != exitDone {
		t.Fatal(said)
	}
	outputs, err := filepath.Glob(filepath.Join(work, "search", "*"))
	if err != nil || len(outputs) != 1 {
		t.Fatal(outputs, err)
	}
	output, aside := outputs[0], filepath.Join(t.TempDir(), "aside")
	if err := os.Rename(output, aside); err != nil {
		t.Fatal(err)
	}
	st, err := store.OpenExisting(t.Context(), work, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	name := "search-" + filepath.Base(output)
	note := func(kind string, h record.Holder) {
		t.Helper()
		data, err := json.Marshal(h)
		if err == nil {
			err = st.WriteNote(t.Context(), kind, name, data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	note(record.RunningNote, record.Self())

	printed, ended := make(received), make(chan error, 1)
	root := newRoot()
	root.SetOut(printed)
	root.SetArgs([]string{"status", "--watch=1ms", out})
	go func() { ended <- root.ExecuteContext(t.Context()) }()
	want := func(dated bool, parts ...string) {
		t.Helper()
		select {
		case text := <-printed:
			if strings.HasPrefix(text, "\n2") != dated {
				t.Errorf("dated: %v, want the opposite: %q", !dated, text)
			}
			for _, part := range parts {
				if !strings.Contains(text, part) {
					t.Errorf("no %q in %q", part, text)
				}
			}
		case err := <-ended:
			t.Fatalf("ended with %v before it printed %q", err, parts)
		}
		time.Sleep(50 * time.Millisecond) // it looks some times more
	}
	want(false, "de-en", "(search) running: ")
	failed := record.Self()
	failed.Error = "no room"
	note(record.FailedNote, failed)
	if err := st.DeleteNote(t.Context(), record.RunningNote, name); err != nil {
		t.Fatal(err)
	}
	want(true, "(search) failed: ", ": no room")
	if err := os.Rename(aside, output); err != nil {
		t.Fatal(err)
	}
	want(true, "de-en")
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case text := <-printed:
		t.Fatalf("it goes on: %q", text)
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on when all is done")
	}
	if err := st.Close(); err != nil {
		t.Error(err)
	}
	status := must(t, "status", "--work", work)
	moved := filepath.Join(t.TempDir(), "moved")
	if err := os.Rename(out, moved); err != nil {
		t.Fatal(err)
	}
	if again := must(t, "status", moved); again != status {
		t.Errorf("of a run that was moved:\n%s\nbefore:\n%s", again, status)
	}
	must(t, "gc", moved, "--dry-run")
	if err := os.Remove(filepath.Join(moved, record.ReportName)); err != nil { // as of one that has not ended
		t.Fatal(err)
	}
	if again := must(t, "status", moved); again != status {
		t.Errorf("of a run that has not ended:\n%s\nbefore:\n%s", again, status)
	}
	for _, args := range [][]string{{"status", t.TempDir()}, {"status", moved, moved}, {"gc", moved, "--work", work}} {
		if _, err := command(t, args...); !badinput.Is(err) {
			t.Errorf("mine %s: error %v", strings.Join(args, " "), err)
		}
	}
}

// TestStatusOfARunThatSharesItsWork: of the runs of one work directory, those into the output directory that was named.
func TestStatusOfARunThatSharesItsWork(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work", "shared")
	for _, pair := range [][2]string{{"de", "en"}, {"en", "de"}} {
		must(t, "run", "--src", pair[0], "--tgt", pair[1], "--encoder", fixtures.Encoder, "--out", filepath.Join(dir, pair[0]), "--work", work)
	}
	t.Chdir(dir)
	if err := os.Rename("de", "moved"); err != nil {
		t.Fatal(err)
	}
	for named, want := range map[string]string{"moved": "run 1, de-en ", "en": "run 2, en-de ", "en/en-de.parquet": "run 2, en-de "} {
		if text := must(t, "status", named); !strings.HasPrefix(text, want) {
			t.Errorf("mine status %s begins with %.40q, want %q", named, text, want)
		}
	}
	if err := os.Mkdir("failed", 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := command(t, "status", "failed"); !badinput.Is(err) || !strings.Contains(err.Error(), "--work") {
		t.Errorf("mine status of a directory into which no run ended: %v", err)
	}
}

// TestStatusOfManyPairs: what became of each pair is shown before the last pair's tasks. Commands that take the run of
// one pair name the directories of the pairs.
func TestStatusOfManyPairs(t *testing.T) {
	dir := t.TempDir()
	out, work := filepath.Join(dir, "out"), filepath.Join(dir, "work")
	if err := os.CopyFS(dir, fixtures.Text); err != nil {
		t.Fatal(err)
	}
	args := []string{"run", "--langs", "en,de,fr", "--encoder", fixtures.Encoder, "--out", out, "--work", work}
	for _, l := range []string{"de", "en", "fr"} {
		args = append(args, "--text", l+"="+filepath.Join(dir, "text", l+".txt"))
	}
	if err := os.WriteFile(filepath.Join(dir, "text", "fr.txt"), []byte("%PDF-1.7"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, said := captured(t, args...); code == exitDone {
		t.Fatal(said)
	}
	text := must(t, "status", out)
	for _, want := range []string{"  en-de  ", " pairs kept\n  en-fr  failed: ", "\n  de-fr  failed: ", "\n\nrun 1, en-de "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the status:\n%s", want, text)
		}
	}
	if text := must(t, "status", out, "--json"); !strings.Contains(text, `"pair": "en-fr"`) || !strings.Contains(text, `"stages": [`) {
		t.Errorf("as JSON:\n%s", text)
	}
	if _, err := command(t, "diff", out, out); !badinput.Is(err) || !strings.Contains(err.Error(), "name one of "+filepath.Join(out, "en-de")) {
		t.Errorf("mine diff: %v", err)
	}
	if _, err := command(t, "diff", out, out, "--min-change", "nan"); !badinput.Is(err) || !strings.Contains(err.Error(), "--min-change is NaN") {
		t.Errorf("mine diff --min-change nan: %v", err)
	}
}

// TestTaskAndItsMemory: a task's log has the memory that it took beside the estimate, and one that needs more than
// --max-memory is refused for good.
func TestTaskAndItsMemory(t *testing.T) {
	out := filepath.Join(t.TempDir(), "mined")
	code, text, said := captured(t, "plan", "--src", "de", "--tgt", "en", "--encoder", fixtures.Encoder, "--out", out, "--json")
	if code != exitDone {
		t.Fatal(said)
	}
	var estimate pipeline.Estimate
	if err := json.Unmarshal([]byte(text), &estimate); err != nil {
		t.Fatal(err)
	}
	task := []string{"task", record.PlanPath(estimate.Work, estimate.PlanID), "0", "--max-memory"}
	code, _, said = captured(t, append(task, "50MiB")...)
	if code != exitPermanent || !strings.Contains(said, "task 0 (encode): a task of stage encode needs") || !strings.Contains(said, "raise --max-memory") {
		t.Errorf("a task in 50 MiB: exit code %d, %s", code, said)
	}
	if done, err := filepath.Glob(filepath.Join(estimate.Work, "encode", "*")); err != nil || len(done) != 0 {
		t.Errorf("outputs %v, error %v of a task that was refused", done, err)
	}
	code, _, said = captured(t, append(task, "2GiB")...)
	if code != exitDone || !regexp.MustCompile(`msg="task done" task=0 stage=encode .*memory="\d.* MiB" estimate="\d.* MiB"\n`).MatchString(said) {
		t.Errorf("a task in 2 GiB: exit code %d, %s", code, said)
	}
}
