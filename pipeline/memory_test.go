package pipeline

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bitextmine/fixtures"
	"bitextmine/internal/badinput"
	"bitextmine/internal/usage"
	"bitextmine/score"
)

// sentenceBytes is what a sentence of a run may have in memory, docs/benchmarks.md: what does not depend on the corpus
// varies by as much as noise.
const (
	sentenceBytes = 100
	noise         = 40 << 20
)

// TestPeakMemory: a run of MINE_TEST_SENTENCES sentences on either side (100000 in make test-heavy) in nine cells with
// the default encoder and scorer has at most the size of the encoder's files and 512 MiB resident, and hardly more than
// one of half the sentences. Of 30,000 it has less.
func TestPeakMemory(t *testing.T) {
	n, limit := 30000, int64(290<<20)
	text := os.Getenv("MINE_TEST_SENTENCES")
	if text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		limit = 512<<20 + encoderSize(t)
	}
	peak := peakOf(t, n)
	t.Logf("%d MiB of at most %d were resident", peak>>20, limit>>20)
	if peak == 0 || peak > limit {
		t.Errorf("mining %d sentences of either side had %d MiB resident, more than %d", n, peak>>20, limit>>20)
	}
	if text == "" {
		return
	}
	half := peakOf(t, n/2)
	t.Logf("of half the sentences %d MiB", half>>20)
	if more := peak - half; more > int64(n)*sentenceBytes+noise {
		t.Errorf("mining %d sentences of either side had %d MiB more resident than half of them", n, more>>20)
	}
}

// peakOf is the peak of resident memory of a run of n sentences on either side.
func peakOf(t *testing.T, n int) int64 {
	t.Helper()
	text := newText(t)
	for side, name := range []string{"de.txt", "en.txt"} {
		text.put(side, name, recombined(t, name, n))
	}
	cfg := text.config(filepath.Join(t.TempDir(), "out"))
	cfg.ShardSize, cfg.Scorer, cfg.Threshold, cfg.KeepBelow, cfg.Threads = (n+2)/3, score.Default, 0.5, false, 1
	output, err := command(t, cfg).Output()
	if err != nil {
		t.Fatal(err)
	}
	peak, err := strconv.ParseInt(strings.TrimSpace(string(output)), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return peak
}

// TestWhatIsDoneNeedsNoMemory: with less memory than the largest task needs, a run whose tasks are done is planned and
// done; both are refused once that task's output is gone, and the run where it is damaged.
func TestWhatIsDoneNeedsNoMemory(t *testing.T) {
	text := newText(t)
	for side, files := range mineNights(t, 1) {
		text.put(side, nightText(0), files[0])
	}
	cfg := text.config(filepath.Join(t.TempDir(), "out"))
	estimate, err := Plan(t.Context(), cfg, options())
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, cfg)
	t.Cleanup(func() { usage.LimitHeap(0) })
	cfg.MaxMemory = fmt.Sprintf("%dKiB", estimate.Memory>>10-1)
	try := func(what string, refused bool) {
		t.Helper()
		_, planned := Plan(t.Context(), cfg, options())
		_, ran := Run(t.Context(), cfg, options())
		for name, err := range map[string]error{"plan": planned, "run": ran} {
			if refused && name == "plan" && what == "damaged" {
				continue // which reads no outputs
			}
			if (err != nil) != refused || refused && (!badinput.Is(err) || !strings.Contains(err.Error(), "a task of stage "+estimate.Stage+" needs")) {
				t.Errorf("%s, %s: error %v", name, what, err)
			}
		}
	}
	try("done", false)
	outputs := filepath.Join(cfg.Out, "work", estimate.Stage)
	files, err := filepath.Glob(filepath.Join(outputs, "*", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files in %s, %v", outputs, err)
	}
	for _, file := range files {
		if err := os.WriteFile(file, []byte("damaged"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	try("damaged", true)
	try("gone", true)
}

// recombined makes n different sentences of a text's: the first words of one and the last of another.
func recombined(t *testing.T, name string, n int) []byte {
	t.Helper()
	data, err := fixtures.Text.ReadFile("text/" + name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for i, line := range lines {
		_, lines[i], _ = strings.Cut(line, "\t")
	}
	var all []byte
	for i := range n {
		first, last := strings.Fields(lines[i%len(lines)]), strings.Fields(lines[(i+i/len(lines)*101)%len(lines)])
		all = fmt.Appendf(all, "%s %s %d.\n", strings.Join(first[:(len(first)+1)/2], " "), strings.Join(last[len(last)/2:], " "), i/len(lines))
	}
	return all
}

// encoderSize is the size of the default encoder's files.
func encoderSize(t *testing.T) (size int64) {
	t.Helper()
	for _, name := range []string{"model.onnx", "spm.model"} {
		data, err := fs.ReadFile(fixtures.Models, "models/"+fixtures.Encoder+"/"+name)
		if err != nil {
			t.Fatal(err)
		}
		size += int64(len(data))
	}
	return size
}
