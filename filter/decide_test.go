package filter

import (
	"slices"
	"testing"

	"bitextmine/mine"
)

// TestDecide compares the reasons with the names in docs/formats.md.
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		verdict   mine.Verdict
		rejection Rejection
		keep      bool
		reasons   []string
	}{
		{mine.Kept, 0, true, nil},
		{mine.BelowThreshold, 0, false, []string{"below_threshold"}},
		{mine.Taken, 0, false, []string{"taken"}},
		{mine.NotProposed, 0, false, []string{"not_proposed"}},
		{mine.Rejected, SourceLanguage | Untranslated, false, []string{"src_language", "untranslated"}},
		{mine.Rejected, TargetLanguage, false, []string{"tgt_language"}},
		{mine.BelowFloor, 0, false, []string{"below_floor"}},
	} {
		if keep, reasons := Decide(c.verdict, c.rejection); keep != c.keep || !slices.Equal(reasons, c.reasons) {
			t.Errorf("%v: keep %v, reasons %v; want %v, %v", c.verdict, keep, reasons, c.keep, c.reasons)
		}
	}
}
