package view

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"bitextmine/corpus"
	"bitextmine/internal/spill"
	"bitextmine/pipeline/plan"
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

// TestNumberInPasses: how many rows are sorted at a time does not show.
func TestNumberInPasses(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	shards, keys := make([]plan.Shard, 3), map[*plan.Shard][]corpus.Key{}
	for i := range shards {
		shards[i] = plan.Shard{Vector: string(rune('a' + i)), Rows: 1000}
		for range shards[i].Rows {
			var key corpus.Key
			key[0], key[1] = byte(random.IntN(256)), byte(random.IntN(8)) // many occur several times
			keys[&shards[i]] = append(keys[&shards[i]], key)
		}
	}
	keysOf := func(s *plan.Shard) ([]corpus.Key, error) { return keys[s], nil }
	want, err := number(nil, shards, keysOf, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	for _, passRows := range []int{1, 7, 700, 3000} {
		if got, err := number(nil, shards, keysOf, passRows); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("with %d rows at a time the numbers differ, error %v", passRows, err)
		}
	}
	if !slices.IsSortedFunc(want.First, func(a, b Place) int {
		x, y := keys[&shards[a.Shard]][a.Row], keys[&shards[b.Shard]][b.Row]
		return bytes.Compare(x[:], y[:])
	}) {
		t.Error("the numbers are not in the order of the keys")
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

// TestSpillOutlivesTask: sentences are numbered in files when the folder of the task that came first is gone.
func TestSpillOutlivesTask(t *testing.T) {
	first := filepath.Join(t.TempDir(), "first")
	f := NewFiles(nil, &plan.Plan{}, "")
	f.Spill(first)
	if _, err := spill.Make[byte](&f.room, spill.InMemory+1); err != nil || f.Free() != nil {
		t.Errorf("no file after the task: %v", err)
	}
}
