package label

import (
	"slices"
	"testing"
)

// TestWithdrawn: a label that was taken back is as if it had never been given.
func TestWithdrawn(t *testing.T) {
	dir := t.TempDir()
	one, other := labelOf(1, true), labelOf(5, false)
	for _, step := range []struct {
		on        Label
		withdrawn bool
		want      []Label
	}{
		{one, false, []Label{one}},
		{one, true, nil},
		{other, true, nil}, // withdraws a label that does not exist
		{other, false, []Label{other}},
		{one, false, []Label{one, other}},
		{one, true, []Label{other}},
	} {
		if err := Replace(dir, step.on, step.withdrawn, func() error { return nil }); err != nil {
			t.Fatal(err)
		}
		labels, err := Latest(dir)
		if err != nil || !slices.Equal(labels, step.want) {
			t.Errorf("%v, %v, want %v", labels, err, step.want)
		}
	}
}
