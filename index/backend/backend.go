// Package backend opens a search implementation by the name in the settings.
package backend

import (
	"strings"

	"bitextmine/index"
	"bitextmine/index/approximate"
	"bitextmine/index/cuda"
	"bitextmine/index/exact"
	"bitextmine/index/faiss"
	"bitextmine/index/ivf"
	"bitextmine/internal/badinput"
)

// Options are the settings of a search.
type Options struct {
	Threads     int                  // 0 means all processors that Go may use
	Approximate approximate.Settings // exact searches refuse them
}

func (o Options) faiss() faiss.Options {
	return faiss.Options{Threads: o.Threads, Settings: o.Approximate}
}

// Exact reports whether the backend gives the same lists as a float64 brute force. All exact backends give identical
// lists.
func Exact(name string) bool {
	return name == exact.Name || name == faiss.Prefix+faiss.Flat || name == faiss.PrefixGPU+faiss.Flat ||
		name == cuda.Name
}

// Open returns the searcher with the given name. Auto is not a searcher; Choose resolves it. Errors are badinput, also
// if settings of approximate searches are given to an exact search.
func Open(name string, opts Options) (index.Searcher, error) {
	given := opts.Approximate
	if Exact(name) && (given.NProbe != 0 || given.EfSearch != 0) {
		return nil, badinput.Errorf(
			"search %s compares all rows and has no use for nprobe and ef_search; remove them or name an approximate index",
			name)
	}
	if name == exact.Name {
		return exact.Open(exact.Options{Threads: opts.Threads})
	}
	if lists, ok := strings.CutPrefix(name, ivf.Prefix); ok {
		if given.EfSearch != 0 {
			return nil, badinput.Errorf("search %s searches no graph and has no use for ef_search; remove it", name)
		}
		return ivf.Open(lists, ivf.Options{Threads: opts.Threads, Settings: given})
	}
	if factory, ok := strings.CutPrefix(name, faiss.Prefix); ok {
		return faiss.Open(factory, opts.faiss())
	}
	if factory, ok := strings.CutPrefix(name, faiss.PrefixGPU); ok {
		return faiss.OpenGPU(factory, opts.faiss())
	}
	if name == cuda.Name {
		return cuda.Open(cuda.Options{Threads: opts.Threads})
	}
	return nil, badinput.Errorf(
		"search backend %q is not known; use exact, ivf:LISTS, cuda, faiss:FACTORY, faiss-gpu:FACTORY or auto",
		name)
}

// MinRows is the number of distinct rows that each side must have for the named backend to search them by its index.
func MinRows(name string) int {
	if Exact(name) {
		return 1
	}
	if lists, ok := strings.CutPrefix(name, ivf.Prefix); ok {
		return max(ivf.MinRows(lists), 1)
	}
	_, factory, _ := strings.Cut(name, ":")
	return max(faiss.MinRows(factory), 1)
}

// Whole says whether a cell is compared whole, by exact search, where the named backend is asked for: a side has too
// few rows for its index, or lists would take longer than comparing all.
func Whole(name string, cell Shape, nprobe int) bool {
	if lists, ok := strings.CutPrefix(name, ivf.Prefix); ok {
		return ivf.Whole(lists, nprobe, cell.Rows, cell.Cols)
	}
	return min(cell.Rows, cell.Cols) < MinRows(name)
}

// Check detects early what Open and Search would refuse: an unknown name, a factory string that FAISS cannot build for
// vectors of dim values or that does not have one of the given search settings, or a missing GPU. Errors are badinput.
func Check(name string, dim int, opts Options) error {
	if _, err := Open(name, opts); err != nil {
		return err
	}
	if factory, ok := strings.CutPrefix(name, faiss.Prefix); ok {
		return faiss.Check(factory, dim, opts.faiss())
	}
	return nil
}
