package backend

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"bitextmine/index"
	"bitextmine/index/approximate"
	"bitextmine/index/indextest"
	"bitextmine/index/ivf"
	"bitextmine/internal/badinput"
)

func TestFitRecoversCosts(t *testing.T) {
	for name, want := range map[string]Cost{
		"all parts": {Fixed: 0.5, Row: 1e-6, Pair: 2e-10},
		"pairs":     {Pair: 3e-9},
		"rows":      {Row: 3e-6},
	} {
		t.Run(name, func(t *testing.T) {
			n, m := 4096, 512
			got := fit("x", n, m, want.Seconds(n, m), want.Seconds(4*n, m), want.Seconds(4*n, 4*m))
			for _, c := range [][2]int{{1000, 1000}, {250000, 250000}, {1000000, 100}} {
				g, w := got.Seconds(c[0], c[1]), want.Seconds(c[0], c[1])
				if math.Abs(g-w) > 1e-6*w {
					t.Errorf("%d x %d: %v s, want %v", c[0], c[1], g, w)
				}
			}
		})
	}
	noisy := fit("x", 4096, 512, 0.1, 0.05, 0.2)
	if noisy.Fixed < 0 || noisy.Row < 0 || noisy.Pair < 0 || noisy.Seconds(16384, 2048) < 0.19 {
		t.Errorf("noise made %+v", noisy)
	}
}

func TestChoose(t *testing.T) {
	gpu := Estimate{Name: "gpu", Refused: errors.New("no GPU")}
	fast := Estimate{Name: "faiss-gpu:Flat", Time: time.Second, Memory: 4 << 30}
	small := Estimate{Name: "exact", Time: time.Minute, Memory: 1 << 20}
	ann := func(seconds int) Estimate {
		return Estimate{Name: "faiss:IVF64,Flat", Time: time.Duration(seconds) * time.Second}
	}
	for name, c := range map[string]struct {
		from  []Estimate
		limit int64
		want  string
		why   string
	}{
		"the fastest":           {[]Estimate{gpu, small, fast}, 0, "faiss-gpu:Flat", "faiss-gpu:Flat is expected to take 1s, exact 1m0s"},
		"the fastest that fits": {[]Estimate{fast, small}, 1 << 30, "exact", "exact is expected"},
		"not worth its loss":    {[]Estimate{ann(31), small}, 0, "exact", "exact is expected to take 1m0s, faiss:IVF64,Flat 31s"},
		"worth its loss":        {[]Estimate{small, ann(29)}, 0, "faiss:IVF64,Flat", "faiss:IVF64,Flat is expected to take 29s, exact 1m0s"},
		"the only one":          {[]Estimate{gpu, ann(90)}, 0, "faiss:IVF64,Flat", "1m30s"},
		"none":                  {[]Estimate{gpu}, 0, "", "no search can be used: no GPU"},
		"none fits":             {[]Estimate{fast}, 1 << 30, "", "faiss-gpu:Flat needs 4096 MiB and may use 1024"},
	} {
		t.Run(name, func(t *testing.T) {
			got, why, err := Choose(c.from, c.limit)
			if err != nil {
				why = err.Error()
			}
			if got.Name != c.want || !strings.Contains(why, c.why) {
				t.Errorf("%q because %q, want %q because %q", got.Name, why, c.want, c.why)
			}
		})
	}
}

func TestCalibrateAndEstimate(t *testing.T) {
	c, err := Calibrate(t.Context(), []string{"exact", "faiss:IVF16,Flat", "faiss:IVF8,PQ7np"}, 16, 4, Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	estimates := c.Estimates([]Shape{{250000, 250000}, {250000, 1000}})
	for i, e := range estimates[:2] {
		if e.Refused != nil || e.Time <= 0 || e.Memory <= 0 {
			t.Errorf("estimate %+v", e)
		}
		if e.Time != time.Duration((c.Costs[i].Seconds(250000, 250000)+c.Costs[i].Seconds(250000, 1000))*float64(time.Second)) {
			t.Errorf("%s: %v is not the sum of its cells", e.Name, e.Time)
		}
	}
	if estimates[2].Refused == nil {
		t.Error("seven codes fit into 16 dimensions")
	}
}

// A GPU is considered, and the reason given why it cannot be used.
func TestGPUIsConsidered(t *testing.T) {
	indextest.Driver(t, "GPUS=0")
	if slices.Contains(Candidates(), "cuda") {
		t.Error("a GPU is considered where there is none")
	}
	indextest.Driver(t, "MAJOR=7")
	if !slices.Contains(Candidates(), "cuda") {
		t.Fatal("a GPU is not considered")
	}
	c, err := Calibrate(t.Context(), []string{"cuda"}, 16, 4, Options{Threads: 1})
	if err != nil || !badinput.Is(c.Costs[0].Err) || !strings.Contains(c.Costs[0].Err.Error(), "older than the kernels") {
		t.Errorf("%+v, %v; want that the GPU is too old", c.Costs, err)
	}
}

func TestCalibrateIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Calibrate(ctx, []string{"exact"}, 16, 4, Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v; want context.Canceled", err)
	}
}

func TestMemory(t *testing.T) {
	cell, two := Shape{1000000, 1000}, Options{Threads: 2}
	exactly := Memory("exact", cell, 256, 4, two)
	if again := Memory("exact", Shape{2000000, 1000}, 256, 4, two); again-exactly != 1000000*48 {
		t.Errorf("a row more of an exact search takes %d bytes, want those of its list", (again-exactly)/1000000)
	}
	flat, codes := Memory("faiss:Flat", cell, 256, 4, two), Memory("faiss:IVF64,PQ32np", cell, 256, 4, two)
	if flat < 1000000*256*4 || codes > flat/4 {
		t.Errorf("flat %d MiB, codes %d MiB", flat>>20, codes>>20)
	}
}

// The cost of a search with inverted lists follows from that of exact search and the comparisons that it makes.
func TestInvertedListsAreEstimated(t *testing.T) {
	opts := Options{Threads: 1, Approximate: approximate.Settings{NProbe: 64}}
	c, err := Calibrate(t.Context(), []string{"exact", "ivf:4096", "ivf:many"}, 16, 4, opts)
	if err != nil || c.Costs[1].Err != nil || c.Costs[2].Err == nil || Untimed(c.Costs[2].Err) {
		t.Fatalf("calibration says %+v, %v", c.Costs, err)
	}
	exact, lists := c.Costs[0], c.Costs[1]
	if ratio := lists.Pair / exact.Pair; exact.Pair > 0 && (ratio < 2*64.0/4096 || ratio > 20*64.0/4096) {
		t.Errorf("a pair takes %.3f of exact search's time, with 64 of 4,096 lists visited", ratio)
	}
	if small := lists.Seconds(10000, 10000) / exact.Seconds(10000, 10000); small < 1 {
		t.Errorf("10,000 rows with 4,096 lists take %.2f of exact search's time", small)
	}
	if lists.Lopsided == nil {
		t.Error("there is no cost of lopsided cells")
	}
	even, lopsided := inverted("", Cost{Pair: 1e-10}, ivf.Comparisons("4096", 64, false)), inverted("", Cost{Pair: 1e-10}, ivf.Comparisons("4096", 64, true))
	as := even.Seconds(10000, 1000000)
	even.Lopsided = &lopsided
	if one, other := even.Seconds(10000, 1000000), even.Seconds(1000000, 10000); one != other || one > 0.6*as {
		t.Errorf("the few rows of a lopsided cell take %.3f s, the other way round %.3f, by the estimate of other cells %.3f", one, other, as)
	}
	if m := Memory("ivf:4096", Shape{1000000, 1000000}, 512, 4, opts); m < 64<<20 || m > 1<<30 {
		t.Errorf("memory of %d MiB", m>>20)
	}
	large := Shape{2500000, 2500000}
	two := Options{Threads: 2, Approximate: approximate.Settings{NProbe: 8}}
	if m := Memory("ivf:4096", large, 512, 4, two); m < 300<<20 || m > 450<<20 {
		t.Errorf("two shards of 2,500,000 rows take %d MiB; 418 were measured of a whole process", m>>20)
	}
	million := []Shape{{1000000, 1000000}}
	few := c.Estimates(million)[1].Memory
	c.Options.Approximate.NProbe = 512
	if many := c.Estimates(million)[1].Memory; many < few+32<<20 {
		t.Errorf("memory of %d MiB with 512 visits, %d with 64", many>>20, few>>20)
	}
}

// An index with more lists than a calibration has rows can be used but not timed.
func TestManyListsAreUntimed(t *testing.T) {
	c, err := Calibrate(t.Context(), []string{"faiss:IVF4096,Flat"}, 8, 4, Options{Threads: 1})
	if err != nil || !Untimed(c.Costs[0].Err) {
		t.Errorf("calibration says %+v, %v; want that the time is not known", c.Costs, err)
	}
	if c, err := Calibrate(t.Context(), []string{"faiss:Blah"}, 8, 4, Options{Threads: 1}); err != nil || Untimed(c.Costs[0].Err) || c.Costs[0].Err == nil {
		t.Errorf("an unknown factory: %+v, %v; want a refusal", c.Costs, err)
	}
}

// TestApproximateIsCalibratedQuickly: graphs and codes are built for small cells alone, and a cell that takes long is
// the last one.
func TestApproximateIsCalibratedQuickly(t *testing.T) {
	searched := []int{}
	slow := &trial{name: "faiss:HNSW32", cells: indexCells, searcher: searches(func(src, tgt index.Side) {
		searched = append(searched, src.Vectors.N+tgt.Vectors.N)
		time.Sleep(tooLong + time.Millisecond)
	})}
	rng := rand.New(rand.NewPCG(2, 2))
	rows := randomRows(rng, calibrationCols, 8)
	if err := slow.run(t.Context(), rows, rows, 4); err != nil {
		t.Fatal(err)
	}
	if want := indexCells[0].Rows + indexCells[0].Cols; len(searched) != 1 || searched[0] != want {
		t.Errorf("cells with %v rows were searched, want one of %d", searched, want)
	}
	cost := slow.cost()
	if got := cost.Seconds(1024, 1024) / tooLong.Seconds(); got < 1.9 || got > 2.5 {
		t.Errorf("twice the rows are expected to take %.2f times as long", got)
	}
	if c := newTrial("faiss:HNSW32", Options{Threads: 1}).cells; c != indexCells {
		t.Errorf("a graph is calibrated on %v", c)
	}
}

type searches func(src, tgt index.Side)

func (s searches) Name() string { return "test" }

func (s searches) Search(_ context.Context, src, tgt index.Side, _ int, _ func(float64)) (index.Result, error) {
	s(src, tgt)
	return index.Result{}, nil
}
