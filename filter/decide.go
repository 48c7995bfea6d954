package filter

import "bitextmine/mine"

// Decide reports whether a candidate with this verdict is kept in the bitext. If not, reasons says why: the rules that
// rejected it, or the verdict's name.
func Decide(v mine.Verdict, rejection Rejection) (keep bool, reasons []string) {
	switch v {
	case mine.Kept:
		return true, nil
	case mine.Rejected:
		return false, rejection.Reasons()
	}
	return false, []string{v.String()}
}
