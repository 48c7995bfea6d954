package faiss

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"

	gofaiss "github.com/DataIntelligenceCrew/go-faiss"

	"bitextmine/index"
	"bitextmine/index/approximate"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
)

// ann searches an approximate index of each side. What it finds is re-ranked with the true vectors; what it misses is
// measured.
type ann struct {
	on      processor
	factory string
	opts    Options
}

func (a *ann) Name() string { return a.on.prefix() + a.factory }

// Search implements index.Searcher. Half of its progress is the making of the two indexes. A cell of which a side has
// fewer different rows than inverted lists is compared whole.
func (a *ann) Search(ctx context.Context, src, tgt index.Side, k int, report func(float64)) (index.Result, error) {
	cell, err := index.NewCell(ctx, src, tgt, k)
	if err != nil {
		return index.Result{}, err
	}
	if min(cell.Source.Len(), cell.Target.Len()) < lists(a.factory) {
		cell.Close()
		whole, err := exact.Open(exact.Options{Threads: a.opts.Threads})
		if err != nil {
			return index.Result{}, err
		}
		return whole.Search(ctx, src, tgt, k, report)
	}
	defer cell.Close()
	forward, backward := cell.Halves()
	rows := float64(cell.Source.Len() + cell.Target.Len())
	progress := index.NewProgress(2*rows, report)
	for _, half := range []*index.Half{forward, backward} {
		if err := a.searchHalf(ctx, half, progress); err != nil {
			return index.Result{}, err
		}
	}
	result, err := cell.Result()
	if err != nil {
		return index.Result{}, err
	}
	if result.Recall, err = approximate.MeasureRecall(ctx, src, tgt, result, a.opts.RecallRows, a.opts.Threads); err != nil {
		return index.Result{}, err
	}
	progress.Finish()
	return result, nil
}

func (a *ann) searchHalf(ctx context.Context, half *index.Half, progress *index.Progress) error {
	idx, err := open(ctx, a.on, a.factory, half.Base, a.opts)
	if err != nil {
		return err
	}
	defer idx.Delete()
	progress.Add(float64(half.Base.Len()))

	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	SetBLASThreads(a.opts.Threads)
	keep := min(a.opts.Rerank*half.K, half.Base.Len())
	buf := make([]float32, min(annChunk, half.Queries.Len())*half.Queries.Dim())
	for lo := 0; lo < half.Queries.Len(); lo += annChunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+annChunk, half.Queries.Len())
		_, ids, err := idx.Search(half.Queries.Block(lo, hi, buf), int64(keep))
		if err != nil {
			return failed("search", err)
		}
		for _, id := range ids {
			if id >= int64(half.Base.Len()) {
				return fmt.Errorf("FAISS found row %d of %d: its index is damaged in memory", id, half.Base.Len())
			}
		}
		if err := half.Refine(ctx, a.opts.Threads, lo, hi, ids); err != nil {
			return err
		}
		progress.Add(float64(hi - lo))
	}
	return nil
}

// annChunk is how many queries go into one FAISS call, which cannot be interrupted. An approximate search takes at most
// a few milliseconds a query.
const annChunk = 512

// Check tells whether FAISS can make an index by this factory string for vectors of dim values, with these search
// settings; its error is badinput.
func Check(factory string, dim int, opts Options) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	idx, err := cpu{}.create(factory, dim, 0, opts)
	if err != nil {
		return err
	}
	idx.Delete()
	return nil
}

var ivf = regexp.MustCompile(`IVF(\d+)`)

// MinRows is how many different rows a side must have for an index by this factory string: one for each of its
// inverted lists.
func MinRows(factory string) int { return lists(factory) }

// lists returns the number of inverted lists that a factory string asks for, 0 for none.
func lists(factory string) int {
	m := ivf.FindStringSubmatch(factory)
	if m == nil {
		return 0
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return 0 // too long a number for FAISS as well
	}
	return n
}

var where = regexp.MustCompile(`^Error in .* at [^ ]*:\d+: `)

// reason takes FAISS's own words from an error text that begins with a C++ function and a source line.
func reason(err error) string { return where.ReplaceAllString(err.Error(), "") }

// native is an index inside FAISS, on whatever processor. Its calls stay on one locked OS thread and check no lengths:
// only this file's functions and the searches feed it.
type native interface {
	Train(x []float32) error
	Add(x []float32) error
	Search(x []float32, k int64) (scores []float32, ids []int64, err error)
	Delete()
}

// processor is where indexes live.
type processor interface {
	prefix() string
	// create makes an empty index that is to hold so many rows, and applies the search settings that are given. Its
	// errors are badinput where FAISS refuses them.
	create(factory string, dim, rows int, opts Options) (native, error)
	// slack bounds how far its scores of a flat index are from inner products.
	slack(half *index.Half, opts Options) float64
}

// build trains an index on an even sample of the rows and adds all of them. Errors are badinput where FAISS refuses the
// factory string or the settings, and where memory is too short to train.
func build(ctx context.Context, on processor, factory string, rows *index.Distinct, opts Options) (native, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	SetBLASThreads(buildThreads(factory, opts.Threads))
	idx, err := on.create(factory, rows.Dim(), rows.Len(), opts)
	if err != nil {
		return nil, err
	}
	if err := fill(ctx, idx, factory, rows, opts); err != nil {
		idx.Delete()
		return nil, err
	}
	return idx, nil
}

var graph = regexp.MustCompile(`HNSW|NSG`)

// buildThreads is how many threads build an index. Threads that insert into one graph at a time race for its edges, and
// the same vectors would give another graph each time.
func buildThreads(factory string, threads int) int {
	if graph.MatchString(factory) {
		return 1
	}
	return threads
}

func fill(ctx context.Context, idx native, factory string, rows *index.Distinct, opts Options) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	// An index that needs no training ignores it.
	if err := idx.Train(sample(rows, trainRows(factory, opts))); err != nil {
		if outOfMemory(err) {
			return badinput.Errorf(
				"not enough memory to train the index %q on %d rows; use fewer lists or set fewer training rows",
				factory, trainRows(factory, opts))
		}
		return badinput.Errorf(
			"FAISS cannot train the index %q on %d rows (%s); use an index with fewer lists or smaller codes, or exact",
			factory, rows.Len(), reason(err))
	}
	return addAll(ctx, idx, rows)
}

// outOfMemory tells the C++ exception of an allocation that failed by its text.
func outOfMemory(err error) bool { return strings.Contains(err.Error(), "bad_alloc") }

// trainRows is how many rows an index is trained on. FAISS asks for 39 a list and uses at most 256; codes need some ten
// thousand.
func trainRows(factory string, opts Options) int {
	if opts.TrainRows > 0 {
		return opts.TrainRows
	}
	return max(64*lists(factory), 1<<15)
}

// sample copies n rows (all if there are fewer), spread evenly over the side.
func sample(rows *index.Distinct, n int) []float32 {
	n = min(n, rows.Len())
	dim := rows.Dim()
	out := make([]float32, n*dim)
	for i := range n {
		at := index.Spread(i, n, rows.Len())
		into := out[i*dim : (i+1)*dim]
		copy(into, rows.Block(at, at+1, into))
	}
	return out
}

// Memory is how many bytes a search takes beside its index: the training sample and a block of widened rows.
func Memory(factory string, dim int) int64 {
	return 4*int64(trainRows(factory, Options{}))*int64(dim) + addBytes
}

// kind identifies FAISS's own index files.
const kind approximate.Kind = "faiss"

func labelOf(factory string, rows *index.Distinct, opts Options) approximate.Label {
	return approximate.Label{
		Factory: factory, TrainRows: trainRows(factory, opts),
		Vectors: rows.Digest(), Rows: rows.Len(), Dim: rows.Dim(),
	}
}

// open reads the index from opts.Dir, or builds it and keeps it there. Indexes on GPUs are always built: that is faster
// than reading.
func open(ctx context.Context, on processor, factory string, rows *index.Distinct, opts Options) (native, error) {
	if _, ok := on.(cpu); !ok || opts.Dir == "" {
		return build(ctx, on, factory, rows, opts)
	}
	want := labelOf(factory, rows, opts)
	path := kind.Path(opts.Dir, want)
	return approximate.Open(path, func() (native, error) { return load(path, want, opts) },
		func() (native, error) { return build(ctx, on, factory, rows, opts) }, func(idx native) error {
			err := kind.Save(path, want, func(f *os.File) error { return write(f.Name(), idx.(gofaiss.Index)) })
			if err != nil {
				idx.Delete()
			}
			return err
		})
}

func write(path string, idx gofaiss.Index) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := gofaiss.WriteIndex(idx, path); err != nil {
		return failed("write index", err)
	}
	return nil
}

// load reads an index file. The error is approximate.Damage if the file is not what was published under this name.
func load(path string, want approximate.Label, opts Options) (native, error) {
	if _, err := kind.Verify(path, want); err != nil {
		return nil, err
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	idx, err := gofaiss.ReadIndex(path, 0)
	if err != nil {
		return nil, approximate.Damaged(path, "cannot be read by FAISS (%s)", reason(err))
	}
	if idx.D() != want.Dim || idx.Ntotal() != int64(want.Rows) {
		idx.Delete()
		return nil, approximate.Damaged(path, "does not hold what its label says")
	}
	if err := set(idx, want.Factory, opts); err != nil {
		idx.Delete()
		return nil, err
	}
	approximate.Used(path)
	return idx, nil
}
