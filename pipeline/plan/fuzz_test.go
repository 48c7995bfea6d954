package plan

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzLedger reads arbitrary bytes as a ledger: it offers only merged neighbours that have seen nothing but what is
// wanted.
func FuzzLedger(f *testing.F) {
	f.Add([]byte(`{"shard_sets": [["a", "b"], null], "sides": [{"v": {"key": "00", "shard_set": 0}}, {"v": {"key": "01", "shard_set": 1}}]}`))
	f.Add([]byte(`{"shard_sets": [], "sides": [{"v": {"key": "00", "shard_set": -1}}, null]}`))
	f.Add([]byte("null"))
	f.Fuzz(func(t *testing.T, note []byte) {
		l := &Ledger{}
		if json.Unmarshal(note, l) != nil {
			return
		}
		wanted := ShardSet{"a", "b", "c"}
		for side := range l.Sides {
			for vector := range l.Sides[side] {
				if key, seen := l.Base(side, vector, wanted); key != "" && len(seen.Without(wanted)) > 0 {
					t.Errorf("%s has seen %v of %v", key, seen, wanted)
				}
			}
		}
	})
}

// FuzzOutputs reads arbitrary bytes as a plan of another version: an error is one sentence that names it.
func FuzzOutputs(f *testing.F) {
	f.Add([]byte(`{"format_version": 1, "waves": [{"stage": "shard", "tasks": [{"stage": "shard", "key": "00"}]}]}`))
	f.Add([]byte(`{"waves": [null]}`))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, note []byte) {
		if _, err := Outputs(note, "plan 00"); err != nil && !strings.Contains(err.Error(), "plan 00") {
			t.Errorf("error %v does not name the plan", err)
		}
	})
}
