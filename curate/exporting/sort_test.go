package exporting

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"bitextmine/bitext/table"
)

// TestSortInParts: no more rows than may be are sorted at a time, also where many have one value, or nearly one.
func TestSortInParts(t *testing.T) {
	before, whole, largest := sortRows, join, 0
	defer func() { sortRows, join = before, whole }()
	sortRows = 10
	join = func(batches []*table.Batch) (*table.Batch, error) {
		b, err := whole(batches)
		if err == nil {
			largest = max(largest, b.Len())
		}
		return b, err
	}
	in := filepath.Join(t.TempDir(), "pairs.jsonl")
	values, text := make([]float64, pairs), ""
	for i := range values { // 200 of each value, or 4 of each that are one as float32
		n := "null"
		if values[i] = math.Inf(1); i%10 < 6 {
			values[i] = []float64{-2, 0.25, 7}[i%3]
		} else if i%10 < 8 {
			values[i] = 1 + float64(i%125)*1e-15
		}
		if !math.IsInf(values[i], 1) {
			n = fmt.Sprint(values[i])
		}
		text += fmt.Sprintf(`{"src_text":"%d","tgt_text":"sentence","n":%s}`+"\n", i, n)
	}
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, ascending := range []bool{false, true} {
		want := make([]string, pairs)
		order := upTo(pairs)
		slices.SortStableFunc(order, func(a, b int) int {
			if ascending || math.IsInf(values[a], 1) || math.IsInf(values[b], 1) {
				return cmp.Compare(values[a], values[b])
			}
			return cmp.Compare(values[b], values[a])
		})
		for n, i := range order {
			want[n] = fmt.Sprint(i)
		}
		out := filepath.Join(t.TempDir(), "out.tsv")
		run(t, Options{Files: []string{in}, Format: "tsv", Out: out, Sort: "n", Ascending: ascending})
		if got := rows(t, out, "src_text"); !slices.Equal(got, want) || largest > 10 || largest == 0 {
			t.Errorf("ascending %v, %d rows at a time: %v, want %v", ascending, largest, got, want)
		}
	}
}
