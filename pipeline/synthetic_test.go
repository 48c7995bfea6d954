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
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
)

// synthetic stands in for an encoder where the search is what matters: a text "CLUSTER MEANING ..." embeds near its cluster's centre, nearer
// to texts of the same meaning, its translations.
type synthetic struct {
	digest string
	dim    int
}

func syntheticOptions(dim int) Options {
	opts := options()
	opts.OpenEncoder = func(model *encode.Model, _ encode.Options) (Encoder, error) { return synthetic{model.Digest, dim}, nil }
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
		progress(source.Rows)
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

// syntheticText writes lines from to to of one side: lines of the same number are translations, some stand in the next file too.
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

// TestSyntheticNights: ten nights' increments end with the bytes of one run; then one percent more on both sides is added, at a share of a
// full run's cost that is at most 4% at size.
func TestSyntheticNights(t *testing.T) {
	const n = 10
	rows := syntheticRows(t)
	opts := syntheticOptions(256)
	x := newText(t)
	put := func(name string, from, to func(rows int) int) {
		for side := range rows {
			syntheticText(t, x, side, name, from(rows[side]), to(rows[side]), rows[side])
		}
	}
	run := func(out string) (*Report, float64) {
		cfg := x.config(out)
		cfg.KeepBelow, cfg.ShardSize = false, 250000
		before := cpuSeconds()
		report, err := Run(t.Context(), cfg, opts)
		if err != nil {
			t.Fatal(err)
		}
		spent := cpuSeconds() - before
		for _, s := range report.Stages {
			t.Logf("  %-7s %5d tasks, %5d done before, %8.2f s", s.Name, s.Tasks, s.Cached, s.Seconds)
		}
		t.Logf("%d pairs, %.1f CPU seconds, peak memory %d MiB", report.Counts.Kept, spent, report.PeakMemory>>20)
		return report, spent
	}
	share := func(k int) func(int) int { return func(rows int) int { return k * rows / n } }
	nightly := filepath.Join(t.TempDir(), "nightly")
	var last *Report
	for i := range n {
		put(night(i), share(i), share(i+1))
		last, _ = run(nightly)
	}
	full, _ := run(filepath.Join(t.TempDir(), "full"))
	if full.Bitext.SHA256 != last.Bitext.SHA256 {
		t.Error("ten nights and one run differ")
	}
	if os.Getenv("MINE_TEST_ROWS") == "" {
		return
	}
	// What a full run costs is measured on few files: many small cells cost it more than need be.
	x = newText(t)
	put("all.txt", share(0), share(n))
	one := filepath.Join(t.TempDir(), "one")
	_, cost := run(one)
	put("more.txt", share(n), func(rows int) int { return rows + rows/100 })
	_, increment := run(one)
	t.Logf("one percent more on both sides cost %.1f of %.1f CPU seconds: %.2f%%", increment, cost, 100*increment/cost)
	if increment > 0.04*cost {
		t.Errorf("one percent more on both sides cost %.2f%% of a full run", 100*increment/cost)
	}
}
