// Package faiss searches a cell with FAISS, through go-faiss.
//
// faiss:Flat is exact: two flat searches, one for each direction, refined to the result of a float64 brute force. Any
// other factory string (faiss:IVF1024,Flat and the like) is approximate: an index of each side finds several candidates
// for each place, the true vectors rank them, and the recall is measured against an exact search on a sample.
package faiss

import (
	"cmp"
	"context"
	"fmt"
	"runtime"

	"bitextmine/index"
	"bitextmine/index/approximate"
	"bitextmine/internal/badinput"
)

// These begin the names of this package's searchers; a FAISS factory string follows.
const (
	Prefix    = "faiss:"
	PrefixGPU = "faiss-gpu:"
)

// Flat is the factory string of an index that keeps its vectors as they are: the one whose search is exact.
const Flat = "Flat"

// Options are the settings of a FAISS search.
type Options struct {
	Threads int // 0: all processors that Go may use

	// The rest is for approximate indexes alone.
	approximate.Settings     // FAISS's own default of NProbe is 1
	TrainRows            int // sample that an index is trained on; 0: 64 a list, at least 32,768
	// candidates for each place in a list, compared again with the true vectors; 0: DefaultRerank, at least that
	Rerank     int
	RecallRows int // sample of each side for the measured recall; 0: approximate.RecallRows

	// These are for GPUs.
	GPUs    int  // how many; 0: all
	Float16 bool // keep vectors in float16: half the memory, and float16 embeddings lose nothing
}

// DefaultRerank makes up for what codes lose: the margin needs the true first neighbour.
const DefaultRerank = 4

func (o *Options) complete() error {
	for _, setting := range []struct {
		name  string
		value int
	}{{"threads", o.Threads}, {"nprobe", o.NProbe}, {"efSearch", o.EfSearch}, {"train rows", o.TrainRows},
		{"recall rows", o.RecallRows}, {"GPUs", o.GPUs}} {
		if setting.value < 0 {
			return badinput.Errorf("%s of a FAISS search is %d; give a positive number, or 0 for the default",
				setting.name, setting.value)
		}
	}
	if o.Rerank != 0 && o.Rerank < DefaultRerank {
		return badinput.Errorf(
			"rerank of a FAISS search is %d; give at least %d candidates for each neighbour, or 0 for that",
			o.Rerank, DefaultRerank)
	}
	o.Threads = cmp.Or(o.Threads, runtime.GOMAXPROCS(0))
	o.Rerank = cmp.Or(o.Rerank, DefaultRerank)
	o.RecallRows = cmp.Or(o.RecallRows, approximate.RecallRows)
	return nil
}

// Open returns the searcher for a factory string: exact for Flat, else approximate. Errors are badinput: options out of
// range, no factory string, a BLAS too slow.
func Open(factory string, opts Options) (index.Searcher, error) {
	if err := RunningBLAS().Check(); err != nil {
		return nil, err
	}
	return openOn(cpu{}, factory, opts)
}

// OpenGPU is Open for indexes on GPUs. Without the build tag faissgpu, or without a GPU, it is a badinput error that
// says what is missing.
func OpenGPU(factory string, opts Options) (index.Searcher, error) {
	on, err := newGPUs()
	if err != nil {
		return nil, err
	}
	return openOn(on, factory, opts)
}

func openOn(on processor, factory string, opts Options) (index.Searcher, error) {
	if err := opts.complete(); err != nil {
		return nil, err
	}
	switch factory {
	case "":
		return nil, badinput.Errorf(
			"search backend %q names no index; write %sFlat or another FAISS factory string behind it",
			on.prefix(), on.prefix())
	case Flat:
		return &flat{on: on, opts: opts}, nil
	}
	return &ann{on: on, factory: factory, opts: opts}, nil
}

// addBytes is how much float32 memory one call of Add gets, so that a side in float16 is never widened as a whole.
const addBytes = 64 << 20

// addAll adds the distinct rows of a side in order: FAISS's ids are distinct rows.
func addAll(ctx context.Context, idx native, rows *index.Distinct) error {
	step := max(addBytes/4/rows.Dim(), 1)
	buf := make([]float32, min(step, rows.Len())*rows.Dim())
	for lo := 0; lo < rows.Len(); lo += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := idx.Add(rows.Block(lo, min(lo+step, rows.Len()), buf)); err != nil {
			if outOfMemory(err) {
				return badinput.Errorf(
					"not enough memory for a FAISS index of %d rows; use a smaller shard_size, an index with codes such as IVF1024,PQ32np, or exact",
					rows.Len())
			}
			return failed("add vectors", err)
		}
	}
	return nil
}

func failed(action string, err error) error { return fmt.Errorf("faiss: %s: %w", action, err) }
