package ivf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.uber.org/goleak"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/approximate"
	"bitextmine/index/indextest"
	"bitextmine/index/kernel"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clustered has n rows of each side around centres that both share, some of them copies, in a random key order.
func clustered(rng *rand.Rand, n, dim int) (src, tgt index.Side) {
	centres := indextest.Random(rng, n/20, dim)
	side := func() []float32 {
		noise := indextest.Random(rng, n, dim)
		for i := range n {
			at := rng.IntN(n/20) * dim
			for j := range dim {
				noise[i*dim+j] = centres[at+j] + 0.7*noise[i*dim+j]
			}
			if i > 0 && rng.IntN(20) == 0 {
				copy(noise[i*dim:(i+1)*dim], noise[(i-1)*dim:i*dim])
			}
		}
		return noise
	}
	unit := func(rows []float32) []float32 {
		for i := 0; i < len(rows); i += dim {
			sum := make([]float64, dim)
			for j, v := range rows[i : i+dim] {
				sum[j] = float64(v)
			}
			toUnit(rows[i:i+dim], sum)
		}
		return rows
	}
	return indextest.Shuffled(rng, indextest.Float16(unit(side()), dim)), indextest.Shuffled(rng, indextest.Float32(unit(side()), dim))
}

func search(t *testing.T, lists string, opts Options, src, tgt index.Side, k int) index.Result {
	t.Helper()
	s, err := Open(lists, opts)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Search(t.Context(), src, tgt, k, nil)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func same(t *testing.T, name string, got, want index.Result) {
	t.Helper()
	indextest.Same(t, name+": source", got.Source, want.Source)
	indextest.Same(t, name+": target", got.Target, want.Target)
}

func TestFindsMostNeighbours(t *testing.T) {
	src, tgt := clustered(rand.New(rand.NewPCG(1, 1)), 3000, 32)
	truth := indextest.BruteForce(src, tgt, 4)
	same(t, "all lists", search(t, "32", Options{Settings: approximate.Settings{NProbe: 32}}, src, tgt, 4), truth)
	got := search(t, "32", Options{Settings: approximate.Settings{NProbe: 4}}, src, tgt, 4)
	var found, sought int
	for i := range truth.Source.Len() {
		ids, want := truth.Source.Row(i)
		_, cosines := got.Source.Row(i)
		f, s := approximate.Matches(ids, want, cosines)
		found, sought = found+f, sought+s
	}
	all := float64(found) / float64(sought)
	if all < 0.9 || all == 1 {
		t.Errorf("recall %.3f with an eighth of the lists, want at least 0.9 and less than 1", all)
	}
	if r := got.Recall; r.SourceRows != 1000 || r.TargetRows != 1000 || r.Source < all-0.05 || r.Source > all+0.05 {
		t.Errorf("measured %+v, recall of all rows is %.3f", r, all)
	}
}

// The result is the same on any number of threads and in every kernel.
func TestDeterministic(t *testing.T) {
	src, tgt := clustered(rand.New(rand.NewPCG(2, 2)), 2500, 48)
	want := search(t, "40", Options{Threads: 1, Settings: approximate.Settings{NProbe: 3}}, src, tgt, 4)
	for _, threads := range []int{2, 5} {
		same(t, "threads", search(t, "40", Options{Threads: threads, Settings: approximate.Settings{NProbe: 3}}, src, tgt, 4), want)
	}
	for _, name := range append(kernel.Names, kernel.Emulated) {
		if kernel.Get(name) != nil {
			same(t, name, search(t, "40", Options{Kernel: name, Threads: 2, Settings: approximate.Settings{NProbe: 3}}, src, tgt, 4), want)
		}
	}
	// Source and target changed places.
	turned := search(t, "40", Options{Threads: 2, Settings: approximate.Settings{NProbe: 3}}, tgt, src, 4)
	same(t, "turned", index.Result{Source: turned.Target, Target: turned.Source}, want)
}

// Rows that meet fewer than k others in the lists that they visit still get k neighbours.
func TestListsAreFull(t *testing.T) {
	src, tgt := clustered(rand.New(rand.NewPCG(3, 3)), 400, 16)
	got := search(t, "300", Options{Settings: approximate.Settings{NProbe: 1}}, src, tgt, 8)
	for _, lists := range []mine.Neighbours{got.Source, got.Target} {
		if slices.Contains(lists.IDs, mine.None) {
			t.Fatal("a list is short")
		}
	}
	same(t, "threads", search(t, "300", Options{Threads: 1, Settings: approximate.Settings{NProbe: 1}}, src, tgt, 8), got)
}

// Equal rows leave lists empty, tie everywhere and cannot be told apart by whole numbers. Any of them is as good.
func TestRowsThatHardlyDiffer(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	row := indextest.Random(rng, 1, 24)
	rows := slices.Repeat(row, 600)
	for i := range 600 {
		rows[i*24+i%24] *= 1 + float32(i/24)*0x1p-23
	}
	src := indextest.Shuffled(rng, indextest.Float32(rows, 24))
	got, want := search(t, "20", Options{Settings: approximate.Settings{NProbe: 20}}, src, src, 4).Source, indextest.BruteForce(src, src, 4).Source
	for i, cosine := range got.Cosines {
		if got.IDs[i] == mine.None || math.Abs(float64(cosine)-float64(want.Cosines[i])) > 1e-5 {
			t.Fatalf("neighbour %d has the cosine %v, want about %v", i, cosine, want.Cosines[i])
		}
	}
	same(t, "threads", search(t, "20", Options{Threads: 1, Settings: approximate.Settings{NProbe: 2}}, src, src, 4), search(t, "20", Options{Threads: 3, Settings: approximate.Settings{NProbe: 2}}, src, src, 4))
}

// Rows visit nprobe lists on average, each at least the nearest and none more than twice as many.
func TestVisits(t *testing.T) {
	src, tgt := clustered(rand.New(rand.NewPCG(9, 9)), 2000, 32)
	cell, err := index.NewCell(t.Context(), src, tgt, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer cell.Close()
	opened, err := Open("64", Options{Settings: approximate.Settings{NProbe: 6}})
	if err != nil {
		t.Fatal(err)
	}
	s := opened.(*searcher)
	l, err := s.open(t.Context(), cell.Target)
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if len(l.rows) != 2*cell.Target.Len() {
		t.Errorf("the lists have %d rows, want each of %d twice", len(l.rows), cell.Target.Len())
	}
	forward, backward := cell.Halves()
	p := &pass{searcher: s, visitors: forward, visited: backward, lists: l, progress: index.NewProgress(1, nil)}
	if err := p.measureSpan(t.Context()); err != nil {
		t.Fatal(err)
	}
	n := cell.Source.Len()
	v, err := p.visits(t.Context(), between(0, n))
	if err != nil {
		t.Fatal(err)
	}
	start, visitors := v.of(0, 64)
	of := make([]int, n)
	for _, row := range visitors {
		of[row]++
	}
	if mean := float64(len(visitors)) / float64(n); mean < 5.4 || mean > 6.6 || slices.Min(of) < 1 || slices.Max(of) > 12 || slices.Max(of) == slices.Min(of) {
		t.Errorf("rows visit %.2f lists on average, %d to %d; want 6, at most 12", mean, slices.Min(of), slices.Max(of))
	}
	var some []int32 // of a part of the lists after the other
	for from := 0; from < 64; {
		to := v.upTo(from, 3*n/4)
		part, rows := v.of(from, to)
		for i := range part {
			if part[i] != start[from+i]-start[from] {
				t.Fatalf("lists %d to %d begin at %v, want %v", from, to, part, start[from:to+1])
			}
		}
		if len(rows) > 3*n/4 && to > from+1 {
			t.Errorf("lists %d to %d have %d visitors", from, to, len(rows))
		}
		some, from = append(some, rows...), to
	}
	if !slices.Equal(some, visitors) {
		t.Error("the visitors of some lists at a time differ from those of all lists")
	}
}

// TestWhole: small cells are compared whole, and those of a few rows beside many.
func TestWhole(t *testing.T) {
	for cell, want := range map[[2]int]bool{
		{1000, 1000}: true, {20000, 20000}: true, {30000, 30000}: false, {250000, 250000}: false,
		{1000, 250000}: true, {10000, 250000}: false, {250000, 10000}: false, {900, 2000}: true, {1, 1}: true,
	} {
		if got := Whole("1024", 8, cell[0], cell[1]); got != want {
			t.Errorf("%d x %d rows are compared whole: %v, want %v", cell[0], cell[1], got, want)
		}
	}
	if Whole("4096", 8, 3000, 2500000) {
		t.Error("3,000 rows are compared with each of 2,500,000, although these have lists and the few need none")
	}
	if !Whole("1024", 1024, 1000000, 1000000) {
		t.Error("all lists are visited, which takes longer than comparing all")
	}
}

// TestLopsidedCells: of a side that is much smaller than the other the rows visit, whichever side it is, and both sides
// find their neighbours.
func TestLopsidedCells(t *testing.T) {
	large, small := clustered(rand.New(rand.NewPCG(11, 11)), 6000, 32)
	for _, rows := range []int{3, 150, 740} {
		few := index.Side{Vectors: embedding.Matrix{N: rows, Dim: 32, F32: small.Vectors.F32[:rows*32]}}
		for i, sides := range [][2]index.Side{{large, few}, {few, large}} {
			var results [2]index.Result
			for at, threads := range []int{1, 3} {
				got := search(t, "96", Options{Threads: threads, Settings: approximate.Settings{NProbe: 8}}, sides[0], sides[1], 4)
				if r := got.Recall; r.Source < 0.95 || r.Target < 0.95 {
					t.Errorf("recall %+v of %d rows beside 6000", r, rows)
				}
				results[at] = got
			}
			same(t, fmt.Sprintf("%d rows, side %d, three threads", rows, 1-i), results[1], results[0])
		}
	}
}

// Visits of more lists take more memory: those of all rows until they are made, and those of each thread's rows.
func TestMemoryGrowsWithVisits(t *testing.T) {
	const rows, threads = 200000, 2
	estimate := func(nprobe int) int64 { return Memory("4096", nprobe, rows, threads, 64, 4) }
	if estimate(0) != estimate(DefaultNProbe(4096)) {
		t.Errorf("%d bytes without nprobe, %d with the default", estimate(0), estimate(DefaultNProbe(4096)))
	}
	visits := int64(visitBytes * (100 - 50) * rows)
	if more := estimate(100) - estimate(50); more < visits {
		t.Errorf("100 visits take %d bytes more than 50; they are %d bytes themselves", more, visits)
	}
	if most := estimate(4096); most < visitBytes*maxVisits || most > 2<<30 {
		t.Errorf("%d MiB if all lists are visited", most>>20)
	}
}

func TestBadInput(t *testing.T) {
	for _, lists := range []string{"", "0", "-4", "+4", "04", "4,Flat", "x", "65537", "99999999999999999999"} {
		if _, err := Open(lists, Options{}); !badinput.Is(err) {
			t.Errorf("ivf:%s: error %v; want badinput", lists, err)
		}
	}
	for name, opts := range map[string]Options{
		"threads": {Threads: -1}, "nprobe": {Settings: approximate.Settings{NProbe: -1}},
		"more visits than lists": {Settings: approximate.Settings{NProbe: 9}}, "kernel": {Kernel: "mmx"},
	} {
		if _, err := Open("8", opts); !badinput.Is(err) {
			t.Errorf("%s: error %v; want badinput", name, err)
		}
	}
	src, tgt := clustered(rand.New(rand.NewPCG(5, 5)), 100, 8)
	s, err := Open("4", Options{Settings: approximate.Settings{Dir: filepath.Join(t.TempDir(), "none")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Search(t.Context(), src, tgt, 4, nil); !badinput.Is(err) {
		t.Errorf("no such directory: error %v; want badinput", err)
	}
}

// TestFewDifferentRows: a side whose different rows are fewer than the lists is compared whole, however many rows it
// has; one that needs no lists may have fewer.
func TestFewDifferentRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	rows := indextest.Random(rng, 10, 8)
	few := indextest.Float32(append(slices.Clone(rows), rows...), 8)
	for others, recall := range map[int]bool{40: false, 400: true} {
		many := indextest.Float32(indextest.Random(rng, others, 8), 8)
		for i, sides := range [][2]index.Side{{few, many}, {many, few}} {
			got := search(t, "16", Options{Settings: approximate.Settings{NProbe: 16}}, sides[0], sides[1], 4)
			same(t, fmt.Sprintf("%d rows, side %d", others, i), got, indextest.BruteForce(sides[0], sides[1], 4))
			if measured := got.Recall.SourceRows > 0; measured != recall {
				t.Errorf("%d rows, side %d: recall is %+v", others, i, got.Recall)
			}
		}
	}
}

// What is found does not depend on whether the lists were kept, or on what damaged them.
func TestListsAreKept(t *testing.T) {
	src, tgt := clustered(rand.New(rand.NewPCG(6, 6)), 600, 16)
	want := search(t, "12", Options{Settings: approximate.Settings{NProbe: 2}}, src, tgt, 4)
	opts := Options{Settings: approximate.Settings{NProbe: 2, Dir: t.TempDir()}}
	same(t, "first", search(t, "12", opts, src, tgt, 4), want)
	files, err := filepath.Glob(filepath.Join(opts.Dir, "*.ivf"))
	if err != nil || len(files) != 2 {
		t.Fatalf("files %v, error %v; want one of each side", files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	same(t, "kept", search(t, "12", opts, src, tgt, 4), want)
	mapped, err := Open("12", opts)
	if err != nil {
		t.Fatal(err)
	}
	mapped.(*searcher).inMemory = 0
	inFiles, err := mapped.Search(t.Context(), src, tgt, 4, nil)
	if err != nil {
		t.Fatal(err)
	}
	same(t, "neighbours in files", inFiles, want)
	if err := inFiles.Close(); err != nil {
		t.Error(err)
	}
	opts.NProbe = 12
	same(t, "another nprobe", search(t, "12", opts, src, tgt, 4), indextest.BruteForce(src, tgt, 4))
	opts.NProbe = 2
	if now, err := filepath.Glob(filepath.Join(opts.Dir, "*")); err != nil || len(now) != 2 {
		t.Errorf("files %v, error %v; another nprobe must not make others", now, err)
	}
	other, err := os.ReadFile(files[1])
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{
		"empty": nil, "cut short": whole[:len(whole)/2], "of other vectors": other,
		"changed": append([]byte{whole[0] ^ 0x40}, whole[1:]...),
	} {
		if err := os.WriteFile(files[0], damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		same(t, name, search(t, "12", opts, src, tgt, 4), want)
		if now, err := os.ReadFile(files[0]); err != nil || !bytes.Equal(now, whole) {
			t.Errorf("%s: the file was not made again: %d bytes, error %v", name, len(now), err)
		}
	}
}

func TestSearchIsCancelled(t *testing.T) {
	src, tgt := clustered(rand.New(rand.NewPCG(7, 7)), 300, 8)
	s, err := Open("8", Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Search(ctx, src, tgt, 4, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v; want context.Canceled", err)
	}
}

// 20,000 x 20,000 rows of 128 values around 1,000 centres, k = 4, without the measuring of recall's share.
func BenchmarkSearch(b *testing.B) {
	src, tgt := clustered(rand.New(rand.NewPCG(8, 8)), 20000, 128)
	s, err := Open("256", Options{RecallRows: 1, Settings: approximate.Settings{NProbe: 4}})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Search(b.Context(), src, tgt, 4, nil); err != nil {
			b.Fatal(err)
		}
	}
}
