package filter

import "bitextmine/mine"

// Decide reports whether a candidate with this verdict is kept in the bitext. If not, reasons has the verdict's name.
func Decide(v mine.Verdict) (keep bool, reasons []string) {
	if v == mine.Kept {
		return true, nil
	}
	return false, []string{v.String()}
}
