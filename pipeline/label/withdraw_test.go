package label

import (
	"slices"
	"testing"

	"bitextmine/pipeline/plan"
)

// TestWithdrawn: a label that was taken back is as if it had never been given, also for the digest that runs depend on.
func TestWithdrawn(t *testing.T) {
	dir := t.TempDir()
	one, other := []plan.Label{labelOf(1, true)}, []plan.Label{labelOf(5, false)}
	for _, step := range []struct {
		do   func(string, []plan.Label) error
		on   []plan.Label
		want []plan.Label
	}{
		{Append, one, one},
		{Withdraw, one, nil},
		{Withdraw, other, nil}, // that was never given
		{Append, other, other},
		{Append, one, []plan.Label{one[0], other[0]}},
		{Withdraw, one, other},
	} {
		if err := step.do(dir, step.on); err != nil {
			t.Fatal(err)
		}
		labels, digest, err := Latest(dir)
		if err != nil || !slices.Equal(labels, step.want) {
			t.Errorf("%v, %v, want %v", labels, err, step.want)
		}
		if (digest == "") != (len(step.want) == 0) || len(step.want) > 0 && digest != plan.Digest(step.want) {
			t.Errorf("the digest of %v is %q", labels, digest)
		}
	}
}
