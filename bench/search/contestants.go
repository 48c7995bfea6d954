package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"

	gofaiss "github.com/DataIntelligenceCrew/go-faiss"

	"bitextmine/index"
	"bitextmine/index/approximate"
	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/index/faiss"
	"bitextmine/index/ivf"
	"bitextmine/index/kernel"
)

// contestant is a program or library to be timed on a cell.
type contestant struct {
	name     string
	searches bool // it yields lists, so its recall can be measured
	run      func(ctx context.Context, src, tgt index.Side, k int) (recall float64, err error)
}

type settings struct{ threads, nprobe, efSearch int }

func parseContestants(text string, s settings) ([]contestant, error) {
	var out []contestant
	for _, name := range splitNames(text) {
		c := contestant{name: name, searches: true}
		switch kernelName, isKernel := strings.CutPrefix(name, exact.Name+"/"); {
		case isKernel && slices.Contains(kernel.Names, kernelName) && kernel.Get(kernelName) == nil:
			fmt.Printf("%s is skipped: this CPU cannot run it\n", name)
			continue
		case name == "sgemm":
			c.searches = false
			c.run = func(_ context.Context, src, tgt index.Side, _ int) (float64, error) {
				return 0, rawGEMM(src, tgt, s.threads)
			}
		case name == "go-faiss":
			c.run = func(_ context.Context, src, tgt index.Side, k int) (float64, error) {
				return 1, twoFlatSearches(src, tgt, k, s.threads)
			}
		default:
			searcher, err := open(name, s)
			if err != nil {
				return nil, err
			}
			c.run = func(ctx context.Context, src, tgt index.Side, k int) (float64, error) {
				r, err := searcher.Search(ctx, src, tgt, k, nil)
				return r.Recall.Min(), err
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// splitNames splits at commas, except those inside a factory string such as IVF1024,Flat.
func splitNames(text string) []string {
	var names []string
	for _, part := range strings.Split(text, ",") {
		known := part == "sgemm" || part == "go-faiss" || strings.HasPrefix(part, "exact") || strings.HasPrefix(part, "faiss") || strings.HasPrefix(part, ivf.Prefix)
		if last := len(names) - 1; !known && last >= 0 {
			names[last] += "," + part
			continue
		}
		names = append(names, part)
	}
	return names
}

func open(name string, s settings) (index.Searcher, error) {
	if kernelName, ok := strings.CutPrefix(name, exact.Name+"/"); ok {
		return exact.Open(exact.Options{Threads: s.threads, Kernel: kernelName})
	}
	name, breadth, given := strings.Cut(name, "@")
	opts := approximate.Settings{NProbe: s.nprobe, EfSearch: s.efSearch}
	if given {
		n, err := strconv.Atoi(breadth)
		if err != nil {
			return nil, fmt.Errorf("contestant %s: %q is not a nprobe or efSearch", name, breadth)
		}
		if opts = (approximate.Settings{NProbe: n}); strings.Contains(name, "HNSW") {
			opts = approximate.Settings{EfSearch: n}
		}
	}
	if backend.Exact(name) {
		opts = approximate.Settings{}
	}
	return backend.Open(name, backend.Options{Threads: s.threads, Approximate: opts})
}

// twoFlatSearches does without this package: it builds a flat index of each side and searches all rows of the other
// side in it for k.
func twoFlatSearches(src, tgt index.Side, k, threads int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	faiss.SetBLASThreads(threads)
	for _, way := range [][2]index.Side{{src, tgt}, {tgt, src}} {
		queries, base := way[0].Vectors, way[1].Vectors
		if queries.F32 == nil || base.F32 == nil {
			return fmt.Errorf("go-faiss supports only float32 rows")
		}
		idx, err := gofaiss.NewIndexFlatIP(base.Dim)
		if err != nil {
			return err
		}
		if err := idx.Add(base.F32); err != nil {
			idx.Delete()
			return err
		}
		_, _, err = idx.Search(queries.F32, int64(k))
		idx.Delete()
		if err != nil {
			return err
		}
	}
	return nil
}
