package faiss

import (
	"context"
	"runtime"

	gofaiss "github.com/DataIntelligenceCrew/go-faiss"

	"bitextmine/index"
	"bitextmine/index/kernel"
	"bitextmine/internal/badinput"
)

// cpu makes go-faiss's indexes.
type cpu struct{}

func (cpu) prefix() string { return Prefix }

func (cpu) slack(half *index.Half, _ Options) float64 {
	return kernel.Float32Slack(half.Queries.Kernel, half.Base.Kernel)
}

func (cpu) create(factory string, dim, _ int, opts Options) (native, error) {
	idx, err := gofaiss.IndexFactory(dim, factory, gofaiss.MetricInnerProduct)
	if err != nil {
		return nil, refused(factory, dim, err)
	}
	if err := set(idx, factory, opts); err != nil {
		idx.Delete()
		return nil, err
	}
	return idx, nil
}

func refused(factory string, dim int, err error) error {
	if outOfMemory(err) {
		return badinput.Errorf("not enough memory to make the index %q for %d dimensions; use fewer lists, or exact",
			factory, dim)
	}
	return badinput.Errorf(
		"FAISS cannot make an index %q for %d dimensions (%s); see the FAISS wiki on the index factory, or use exact",
		factory, dim, reason(err))
}

// set applies the search settings that are given. They are FAISS's: nprobe of an index with inverted lists, efSearch of
// a graph.
func set(idx gofaiss.Index, factory string, opts Options) error {
	space, err := gofaiss.NewParameterSpace()
	if err != nil {
		return failed("make a parameter space", err)
	}
	defer space.Delete()
	for _, p := range opts.searchSettings() {
		if err := space.SetIndexParameter(idx, p.name, float64(p.value)); err != nil {
			return settingRefused(factory, p.name, err)
		}
	}
	return nil
}

func settingRefused(factory, name string, err error) error {
	return badinput.Errorf("the index %q has no setting %s (%s); leave it out", factory, name, reason(err))
}

type setting struct {
	name  string
	value int
}

// searchSettings returns the options that are set, by FAISS's names.
func (o Options) searchSettings() []setting {
	var given []setting
	for _, s := range []setting{{"nprobe", o.NProbe}, {"efSearch", o.EfSearch}} {
		if s.value != 0 {
			given = append(given, s)
		}
	}
	return given
}

// flatExtra is how many candidates beyond k a flat search keeps. FAISS's scores are float32 and in its own order; these
// leave room for the few rows that change places when cosines are computed again. Lists that need more are found out
// and computed from all rows.
const flatExtra = 8

// flat searches two flat indexes one after the other: every inner product twice. Its results are exact.
type flat struct {
	on   processor
	opts Options
}

func (f *flat) Name() string { return f.on.prefix() + Flat }

// Search implements index.Searcher.
func (f *flat) Search(ctx context.Context, src, tgt index.Side, k int, report func(float64)) (index.Result, error) {
	cell, err := index.NewCell(ctx, src, tgt, k)
	if err != nil {
		return index.Result{}, err
	}
	defer cell.Close()
	progress := index.NewProgress(float64(cell.Source.Len()+cell.Target.Len()), report)
	forward, backward := cell.Halves()
	for _, half := range []*index.Half{forward, backward} {
		if err := f.searchHalf(ctx, half, progress); err != nil {
			return index.Result{}, err
		}
	}
	progress.Finish()
	return cell.Result()
}

func (f *flat) searchHalf(ctx context.Context, half *index.Half, progress *index.Progress) error {
	// FAISS keeps its error text and OpenMP its thread count by OS thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	SetBLASThreads(f.opts.Threads)

	idx, err := f.on.create(Flat, half.Base.Dim(), half.Base.Len(), f.opts)
	if err != nil {
		return err
	}
	defer idx.Delete()
	if err := addAll(ctx, idx, half.Base); err != nil {
		return err
	}
	keep := min(half.K+flatExtra, half.Base.Len())
	chunk := chunkRows(half.Base.Len(), half.Base.Dim())
	buf := make([]float32, min(chunk, half.Queries.Len())*half.Queries.Dim())
	for lo := 0; lo < half.Queries.Len(); lo += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		hi := min(lo+chunk, half.Queries.Len())
		scores, ids, err := idx.Search(half.Queries.Block(lo, hi, buf), int64(keep))
		if err != nil {
			return failed("search", err)
		}
		if err := half.RefineExact(ctx, f.opts.Threads, lo, hi, ids,
			ceilings(scores, hi-lo, f.on.slack(half, f.opts))); err != nil {
			return err
		}
		progress.Add(float64(hi - lo))
	}
	return nil
}

// ceilings bounds, for each query, the inner product with any row outside its candidates: the last score is the largest
// that such a row can have, and slack what scores are off by at most.
func ceilings(scores []float32, queries int, slack float64) []float64 {
	keep := len(scores) / queries
	out := make([]float64, queries)
	for i := range out {
		out[i] = float64(scores[(i+1)*keep-1]) + slack
	}
	return out
}

// chunkRows is how many queries go into one FAISS call, which cannot be interrupted: about a fifth of a second's work
// on two processors, within FAISS's own block of 4,096.
func chunkRows(rows, dim int) int {
	const flops = 4e10
	return min(max(int(flops/(2*float64(rows)*float64(dim))), 64), 4096)
}
