package stage_test

import (
	"log/slog"
	"reflect"
	"testing"

	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/record"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/store"
)

// TestShardLedger: the newest outputs of each shard are remembered, of two shards of the same bytes those of both.
func TestShardLedger(t *testing.T) {
	st, err := store.Open(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = st.Close() }()
	p := &plan.Plan{
		Languages: []plan.Language{{Shards: []plan.Shard{{SHA256: "x"}, {SHA256: "y"}, {SHA256: "x"}}}, {}}, Pairs: []plan.Pair{{Target: 1}},
	}
	var keys []string
	ledger := &stage.ShardLedger{
		Kept: 2, Name: func(*plan.Plan, int) string { return "note.json" },
		Outputs: func(*plan.Plan, int) [2][]string { return [2][]string{keys} },
	}
	for _, night := range []struct {
		keys []string
		want map[string][]string
	}{
		{[]string{"a", "b", "c"}, map[string][]string{"x": {"a", "c"}, "y": {"b"}}},
		{[]string{"d", "e", "c"}, map[string][]string{"x": {"d", "c", "a"}, "y": {"e", "b"}}},
		{[]string{"f", "g", "h"}, map[string][]string{"x": {"f", "h", "d", "c"}, "y": {"g", "e"}}},
	} {
		keys = night.keys
		if err := ledger.Write(t.Context(), st, p); err != nil {
			t.Fatal(err)
		}
		got, err := record.ReadLedger[plan.Earlier](t.Context(), st, "note.json")
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got.Sides[0], night.want) {
			t.Errorf("outputs %v are noted as %v, want %v", night.keys, got.Sides[0], night.want)
		}
	}
}
