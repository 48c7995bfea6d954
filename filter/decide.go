package filter

import "bitextmine/mine"

// Decide returns whether a candidate of this verdict is bitext, and if not, the reasons: the verdict's name.
func Decide(v mine.Verdict) (keep bool, reasons []string) {
	if v == mine.Kept {
		return true, nil
	}
	return false, []string{v.String()}
}
