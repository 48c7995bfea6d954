package filter

import (
	"slices"
	"testing"

	"bitextmine/mine"
)

// TestDecide compares the reasons with the names in docs/formats.md.
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		verdict mine.Verdict
		keep    bool
		reasons []string
	}{
		{mine.Kept, true, nil},
		{mine.BelowThreshold, false, []string{"below_threshold"}},
		{mine.Taken, false, []string{"taken"}},
		{mine.NotProposed, false, []string{"not_proposed"}},
		{mine.BelowFloor, false, []string{"below_floor"}},
	} {
		if keep, reasons := Decide(c.verdict); keep != c.keep || !slices.Equal(reasons, c.reasons) {
			t.Errorf("%v: keep %v, reasons %v; want %v, %v", c.verdict, keep, reasons, c.keep, c.reasons)
		}
	}
}
