package faiss

import (
	"context"
	"runtime"
	"strings"

	gofaiss "github.com/DataIntelligenceCrew/go-faiss"

	"bitextmine/index"
	"bitextmine/index/blas"
	"bitextmine/internal/badinput"
)

// Index is a trained and filled FAISS index over the distinct rows of one side.
type Index struct{ faiss *gofaiss.IndexImpl }

// Close frees the index.
func (x *Index) Close() { x.faiss.Delete() }

// Build trains an index on an even sample of the rows and adds all of them. Errors are badinput where FAISS refuses the factory
// string or the settings, where there are fewer rows than inverted lists, and where memory is too short to train.
func Build(ctx context.Context, factory string, rows *index.Distinct, opts Options) (*Index, error) {
	if n := lists(factory); rows.Len() < n {
		return nil, badinput.Errorf("the index %q has %d lists but the side only %d different rows to train them on; use fewer lists, or exact", factory, n, rows.Len())
	}
	idx, err := create(factory, rows.Dim())
	if err != nil {
		return nil, err
	}
	x := &Index{idx}
	if err := x.fill(ctx, factory, rows, opts); err != nil {
		x.Close()
		return nil, err
	}
	return x, nil
}

func (x *Index) fill(ctx context.Context, factory string, rows *index.Distinct, opts Options) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	blas.SetThreads(opts.Threads)
	if err := ctx.Err(); err != nil {
		return err
	}
	if !x.faiss.IsTrained() {
		if err := x.faiss.Train(sample(rows, trainRows(factory, opts))); err != nil {
			if strings.Contains(err.Error(), "bad_alloc") {
				return badinput.Errorf("not enough memory to train the index %q on %d rows; use fewer lists or set fewer training rows", factory, trainRows(factory, opts))
			}
			return badinput.Errorf("FAISS cannot train the index %q on %d rows (%s); use an index with fewer lists or smaller codes, or exact", factory, rows.Len(), reason(err))
		}
	}
	if err := addAll(ctx, x.faiss, rows); err != nil {
		return err
	}
	return x.set(factory, opts)
}

// set applies the search settings that are given. They are FAISS's: nprobe of an index with inverted lists, efSearch of a graph.
func (x *Index) set(factory string, opts Options) error {
	space, err := gofaiss.NewParameterSpace()
	if err != nil {
		return failed("make a parameter space", err)
	}
	defer space.Delete()
	for _, p := range []struct {
		name  string
		value int
	}{{"nprobe", opts.NProbe}, {"efSearch", opts.EfSearch}} {
		if p.value == 0 {
			continue
		}
		if err := space.SetIndexParameter(x.faiss, p.name, float64(p.value)); err != nil {
			return badinput.Errorf("the index %q has no setting %s (%s); leave it out", factory, p.name, reason(err))
		}
	}
	return nil
}

// trainRows is how many rows an index is trained on. FAISS asks for 39 a list and uses at most 256; codes need some ten thousand.
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
		at := spread(i, n, rows.Len())
		into := out[i*dim : (i+1)*dim]
		copy(into, rows.Block(at, at+1, into))
	}
	return out
}
