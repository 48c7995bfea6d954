package report

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestIntervals: 100 answers of which 80 are right have an interval of about 8 points to both sides, errors the other
// side of it; TSV has the figures alone.
func TestIntervals(t *testing.T) {
	right := make([]float64, 100)
	for i := range right {
		if i%5 > 0 {
			right[i] = 1
		}
	}
	pairs := Items{make([]float64, 50), make([]float64, 50), make([]float64, 50)}
	for i := range 50 {
		pairs[0][i], pairs[1][i], pairs[2][i] = 1, float64(min(1, i%5)), 1
	}
	for name, c := range map[string]struct {
		figure float64
		items  Items
	}{"accuracy": {80, Items{right}}, "error": {20, Items{right}}, "f1": {80, pairs}} {
		r := &Report{Label: "language", Sampled: name, Columns: []Column{{name, Percentage}, {"sentences", Count}},
			Rows: []Row{{Name: "de", Cells: []any{c.figure, 100}, Items: c.items}}}
		var table, tsv, object strings.Builder
		for format, b := range map[Format]*strings.Builder{Table: &table, TSV: &tsv, JSON: &object} {
			if err := r.Write(b, format); err != nil {
				t.Fatal(err)
			}
		}
		var got map[string]any
		if err := json.Unmarshal([]byte(object.String()), &got); err != nil {
			t.Fatal(err)
		}
		interval, ok := got[name+"_interval"].([]any)
		if !ok || len(interval) != 2 {
			t.Fatalf("%s: %v", name, got)
		}
		low, high := interval[0].(float64), interval[1].(float64)
		if low >= c.figure || high <= c.figure || high-low < 8 || high-low > 26 {
			t.Errorf("%s: %v is from %v to %v", name, c.figure, low, high)
		}
		if !strings.Contains(table.String(), "95%") || !strings.Contains(table.String(), "[") || strings.Contains(tsv.String(), "[") {
			t.Errorf("%s\n%s", table.String(), tsv.String())
		}
	}
}
