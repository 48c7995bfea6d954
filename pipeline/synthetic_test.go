package pipeline

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/internal/usage"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
)

// synthetic stands in for an encoder where the search is what matters: a text "CLUSTER MEANING ..." embeds near its
// cluster's centre, nearer to texts of the same meaning, its translations.
type synthetic struct {
	digest string
	dim    int
}

func syntheticOptions(dim int) Options {
	opts := options()
	opts.OpenEncoder = func(model *model.Model, _ encode.Options) (stage.Encoder, error) {
		return synthetic{model.Digest, dim}, nil
	}
	return opts
}

func (s synthetic) EncodeFile(ctx context.Context, path string, dtype embedding.DType, source encode.Source, progress func(int)) (embedding.Meta, error) {
	return embedding.Write(path, embedding.Meta{Encoder: s.digest, Shard: source.Digest, Dim: s.dim, DType: dtype}, func(w *embedding.Writer) error {
		row := make([]float32, s.dim)
		for text, err := range source.Texts {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			s.embed(text, row)
			if err := w.Append(row); err != nil {
				return err
			}
		}
		if progress != nil {
			progress(source.Rows)
		}
		return nil
	})
}

func (synthetic) Close() error { return nil }

func (s synthetic) embed(text string, row []float32) {
	clear(row)
	cluster, rest, _ := strings.Cut(text, " ")
	meaning, _, _ := strings.Cut(rest, " ")
	for _, part := range []struct {
		seed   string
		weight float32
	}{{cluster, 1}, {cluster + meaning, 0.8}, {text, 0.5}} {
		h := fnv.New64a()
		h.Write([]byte(part.seed))
		state := h.Sum64()
		for i := 0; i < len(row); i += 4 {
			state += 0x9e3779b97f4a7c15 // splitmix64
			z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			z ^= z >> 31
			for j := range min(4, len(row)-i) {
				row[i+j] += part.weight * (float32(uint16(z>>(16*j)))/32768 - 1)
			}
		}
	}
	sum := 0.0
	for _, v := range row {
		sum += float64(v) * float64(v)
	}
	for i := range row {
		row[i] /= float32(math.Sqrt(sum))
	}
}

// syntheticText writes lines from to to of one side: lines of the same number are translations, some stand in the next
// file too.
func syntheticText(t testing.TB, x text, side int, name string, from, to, of int) {
	t.Helper()
	f, err := os.Create(filepath.Join(x.dirs[side], name))
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(f)
	line := func(i int) {
		var buf [8]byte
		binary.LittleEndian.PutUint64(buf[:], uint64(i))
		h := fnv.New32a()
		h.Write(buf[:])
		fmt.Fprintf(w, "cluster%d meaning%d language%d\n", h.Sum32()%uint32(max(of/500, 1)), i, side)
	}
	for i := from; i < to; i++ {
		line(i)
		if i%1000 == 0 {
			line(i * 7 % max(to, 1)) // a sentence of an earlier night or of this one
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// syntheticRows are the sizes of both sides: MINE_TEST_ROWS=1000000x200000 for the proof at size.
func syntheticRows(t testing.TB) (rows [2]int) {
	t.Helper()
	rows = [2]int{20000, 4000}
	if text := os.Getenv("MINE_TEST_ROWS"); text != "" {
		for side, n := range strings.SplitN(text, "x", 2) {
			var err error
			if rows[side], err = strconv.Atoi(n); err != nil {
				t.Fatal(err)
			}
		}
	}
	return rows
}

// syntheticRun is a corpus that grows and the runs over it.
type syntheticRun struct {
	text
	rows   [2]int
	opts   Options
	memory string // max_memory
}

func newSyntheticRun(t testing.TB) *syntheticRun {
	return &syntheticRun{text: newText(t), rows: syntheticRows(t), opts: syntheticOptions(256)}
}

// put writes the file of a share of both sides, in percent of their rows.
func (r *syntheticRun) put(name string, from, to int) {
	for side, rows := range r.rows {
		syntheticText(r.t, r.text, side, name, from*rows/100, to*rows/100, rows)
	}
}

// run runs into out and returns the CPU seconds that it took.
func (r *syntheticRun) run(out string) (*record.Report, float64) {
	r.t.Helper()
	cfg := r.config(out)
	cfg.KeepBelow, cfg.ShardSize, cfg.MaxMemory = false, 250000, r.memory
	before := usage.CPUSeconds()
	report, err := Run(r.t.Context(), cfg, r.opts)
	if err != nil {
		r.t.Fatal(err)
	}
	spent := usage.CPUSeconds() - before
	for _, s := range report.Stages {
		r.t.Logf("  %-7s %5d tasks, %5d done before, %8.2f s", s.Name, s.Tasks, s.Cached, s.Seconds)
	}
	r.t.Logf("%d pairs, %.1f CPU seconds, peak memory %d MiB with mapped files", report.Counts.Kept, spent, report.PeakMemory>>20)
	return report, spent
}

// TestSyntheticNights: ten nights' increments end with the bytes of one run.
func TestSyntheticNights(t *testing.T) {
	const n = 10
	r := newSyntheticRun(t)
	nightly := filepath.Join(t.TempDir(), "nightly")
	var last *record.Report
	for i := range n {
		r.put(nightText(i), i*100/n, (i+1)*100/n)
		last, _ = r.run(nightly)
	}
	if full, _ := r.run(filepath.Join(t.TempDir(), "full")); full.Bitext.SHA256 != last.Bitext.SHA256 {
		t.Error("ten nights and one run differ")
	}
}

// TestSyntheticCost, at a size that MINE_TEST_ROWS gives: a run stays below max_memory, mapped files apart, and one
// percent more on both sides costs at most 4% of its CPU seconds.
func TestSyntheticCost(t *testing.T) {
	if os.Getenv("MINE_TEST_ROWS") == "" {
		t.Skip("costs show at size; make test-heavy sets MINE_TEST_ROWS")
	}
	r := newSyntheticRun(t)
	r.memory = "1GiB"
	out := filepath.Join(t.TempDir(), "out")
	r.put("all.txt", 0, 100)
	stop := make(chan struct{})
	var watch sync.WaitGroup
	var peak int64
	watch.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
				peak = max(peak, usage.AnonymousMemory())
			}
		}
	})
	_, cost := r.run(out)
	r.put("more.txt", 100, 101)
	_, increment := r.run(out)
	close(stop)
	watch.Wait()
	t.Logf("anonymous memory at most %d MiB", peak>>20)
	if peak == 0 || peak > 1<<30 {
		t.Errorf("anonymous memory reached %d bytes", peak)
	}
	t.Logf("one percent more on both sides cost %.1f of %.1f CPU seconds: %.2f%%", increment, cost, 100*increment/cost)
	if increment > 0.04*cost {
		t.Errorf("one percent more on both sides cost %.2f%% of a full run", 100*increment/cost)
	}
}

// peakMemory is the most that was resident of this program, in bytes: usage.PeakMemory may be that of the one before.
func peakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kib, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}
