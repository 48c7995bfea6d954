package label

import (
	"slices"
	"testing"
)

// TestWithdrawn: a label that was taken back is as if it had never been given.
func TestWithdrawn(t *testing.T) {
	dir := t.TempDir()
	one, other := []Label{labelOf(1, true)}, []Label{labelOf(5, false)}
	for _, step := range []struct {
		do   func(string, []Label) error
		on   []Label
		want []Label
	}{
		{Append, one, one},
		{Withdraw, one, nil},
		{Withdraw, other, nil}, // withdraws a label that does not exist
		{Append, other, other},
		{Append, one, []Label{one[0], other[0]}},
		{Withdraw, one, other},
	} {
		if err := step.do(dir, step.on); err != nil {
			t.Fatal(err)
		}
		labels, err := Latest(dir)
		if err != nil || !slices.Equal(labels, step.want) {
			t.Errorf("%v, %v, want %v", labels, err, step.want)
		}
	}
}
