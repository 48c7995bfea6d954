package backend

import (
	"math/rand/v2"
	"testing"

	"bitextmine/index"
	"bitextmine/index/exact"
	"bitextmine/index/indextest"
	"bitextmine/index/kernel"
)

// All exact searches give bit-identical lists, on more rows than a brute force in Go can search: several blocks of both
// sides.
func TestExactSearchesAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const n, q, dim = 20000, 5000, 64
	a, b := indextest.Paired(rng, n, dim)
	src, tgt := indextest.Shuffled(rng, indextest.Float16(a, dim)), indextest.Shuffled(rng, indextest.Float16(b[:q*dim], dim))
	flat, err := Open("faiss:Flat", Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range []int{4, 64} {
		want, err := flat.Search(t.Context(), src, tgt, k, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range kernel.Names {
			if kernel.Get(name) == nil {
				continue
			}
			s, err := exact.Open(exact.Options{Threads: 3, Kernel: name})
			if err != nil {
				t.Fatal(err)
			}
			got, err := s.Search(t.Context(), src, tgt, k, nil)
			if err != nil {
				t.Fatal(err)
			}
			indextest.Same(t, name+": source", got.Source, want.Source)
			indextest.Same(t, name+": target", got.Target, want.Target)
			if got.Recall != (index.Recall{}) {
				t.Errorf("%s: an exact search has a recall of %v", name, got.Recall)
			}
		}
	}
}
