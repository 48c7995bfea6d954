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
