package sentences

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestByKey(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 50, 20000} {
		var all []occurrence
		for i := range n {
			o := occurrence{random.Uint64(), random.Uint64N(3), Place{int32(i / 100), uint32(i % 100)}}
			if i%3 == 0 && i > 0 {
				o.head, o.tail = all[random.IntN(i)].head, random.Uint64N(3) // the same head, often the same key
			}
			all = append(all, o)
		}
		want := slices.Clone(all)
		slices.SortFunc(want, func(a, b occurrence) int {
			return cmp.Or(a.compareKey(b), cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Row, b.Row))
		})
		if !slices.Equal(byKey(all), want) {
			t.Errorf("%d occurrences are not in the order of their keys", n)
		}
	}
}

func BenchmarkByKey(b *testing.B) {
	random := rand.New(rand.NewPCG(3, 4))
	all := make([]occurrence, 1_000_000)
	for i := range all {
		all[i] = occurrence{random.Uint64(), random.Uint64(), Place{0, uint32(i)}}
	}
	for b.Loop() {
		byKey(all)
	}
	b.ReportMetric(float64(len(all))*float64(b.N)/b.Elapsed().Seconds(), "keys/s")
}
