// Package backend picks a search implementation by the name given in the settings.
package backend

import (
	"strings"

	"bitextmine/index"
	"bitextmine/index/exact"
	"bitextmine/index/faiss"
	"bitextmine/internal/badinput"
)

// Options are the settings of a search.
type Options struct {
	Threads int           // 0: all processors that Go may use
	FAISS   faiss.Options // of faiss: and faiss-gpu: searches; Threads above stands for theirs
}

// Exact reports whether the backend called name gives the lists of a float64 brute force: all that do give the same.
func Exact(name string) bool {
	return name == exact.Name || name == faiss.Prefix+faiss.Flat || name == faiss.PrefixGPU+faiss.Flat
}

// Open returns the searcher called name, which is not Auto: that stands for what Choose returns. Errors are badinput, also for settings of
// approximate searches given to an exact one.
func Open(name string, opts Options) (index.Searcher, error) {
	opts.FAISS.Threads = opts.Threads
	if Exact(name) && (opts.FAISS.NProbe != 0 || opts.FAISS.EfSearch != 0) {
		return nil, badinput.Errorf("search %s visits every row, so that nprobe and ef_search say nothing to it; leave them out, or name an approximate index", name)
	}
	if name == exact.Name {
		return exact.Open(exact.Options{Threads: opts.Threads})
	}
	if factory, ok := strings.CutPrefix(name, faiss.Prefix); ok {
		return faiss.Open(factory, opts.FAISS)
	}
	if factory, ok := strings.CutPrefix(name, faiss.PrefixGPU); ok {
		return faiss.OpenGPU(factory, opts.FAISS)
	}
	return nil, badinput.Errorf("search backend %q is not known; use exact, faiss:FACTORY, faiss-gpu:FACTORY or auto", name)
}

// LeastRows is how many different rows each side must have for the backend called name to search them.
func LeastRows(name string) int {
	if Exact(name) {
		return 1
	}
	_, factory, _ := strings.Cut(name, ":")
	return max(faiss.LeastRows(factory), 1)
}

// Check tells early what Open and Search would refuse: a name that is not known, a factory string that FAISS cannot make for vectors of dim values
// or that has none of the given search settings, a GPU that is not there. Errors are badinput.
func Check(name string, dim int, opts Options) error {
	if _, err := Open(name, opts); err != nil {
		return err
	}
	if factory, ok := strings.CutPrefix(name, faiss.Prefix); ok {
		return faiss.Check(factory, dim, opts.FAISS)
	}
	return nil
}
