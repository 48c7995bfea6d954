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
	Threads int // 0: all processors that Go may use
}

// Open returns the searcher called name. Errors are badinput.
func Open(name string, opts Options) (index.Searcher, error) {
	if name == exact.Name {
		return exact.Open(exact.Options{Threads: opts.Threads})
	}
	if factory, ok := strings.CutPrefix(name, faiss.Prefix); ok {
		return faiss.Open(factory, faiss.Options{Threads: opts.Threads})
	}
	return nil, badinput.Errorf("search backend %q is not known; use exact or faiss:FACTORY", name)
}
