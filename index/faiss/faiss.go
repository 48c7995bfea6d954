// Package faiss searches a cell with FAISS, through go-faiss.
//
// faiss:Flat is exact: two flat searches, one for each direction, refined to the result of a float64 brute force.
package faiss

import (
	"context"
	"fmt"
	"runtime"

	gofaiss "github.com/DataIntelligenceCrew/go-faiss"

	"bitextmine/index"
	"bitextmine/index/blas"
	"bitextmine/internal/badinput"
)

// Prefix begins the names of this package's searchers; a FAISS factory string follows.
const Prefix = "faiss:"

// Options are the settings of a FAISS search.
type Options struct {
	Threads int // 0: all processors that Go may use
}

// Open returns the searcher for a factory string. Errors are badinput: a factory that this package does not search, a BLAS too slow.
func Open(factory string, opts Options) (index.Searcher, error) {
	if err := blas.Running().Check(); err != nil {
		return nil, err
	}
	if opts.Threads < 0 {
		return nil, badinput.Errorf("a search cannot run on %d threads; give a positive number, or 0 for all processors", opts.Threads)
	}
	if opts.Threads == 0 {
		opts.Threads = runtime.GOMAXPROCS(0)
	}
	if factory != "Flat" {
		return nil, badinput.Errorf("search backend %q is not known; use %sFlat", Prefix+factory, Prefix)
	}
	return &flat{threads: opts.Threads}, nil
}

// addBytes is how much float32 memory one call of Add gets, so that a side in float16 is never widened as a whole.
const addBytes = 64 << 20

// addAll adds the distinct rows of a side in order: FAISS's ids are distinct rows.
func addAll(ctx context.Context, idx gofaiss.Index, rows *index.Distinct) error {
	step := max(addBytes/4/rows.Dim(), 1)
	buf := make([]float32, min(step, rows.Len())*rows.Dim())
	for lo := 0; lo < rows.Len(); lo += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := idx.Add(rows.Block(lo, min(lo+step, rows.Len()), buf)); err != nil {
			return failed("add vectors", err)
		}
	}
	return nil
}

func failed(action string, err error) error { return fmt.Errorf("faiss: %s: %w", action, err) }
