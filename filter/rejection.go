// Package filter decides which pairs are kept in the bitext and records why the others are rejected.
//
// It contains rules for pairs that are already matched or rejected. From what is known of a pair they compute keep
// (whether the pair is in the bitext) and reasons (why it was rejected; empty for a kept pair). Package score computes
// scores, and package mine matches sentences.
//
// A pair is kept if matching kept it. Matching leaves out the pairs that a Rejection is of: those with a sentence that
// is surely in another language than its corpus (package language), and those whose sides are the same text (Copied).
package filter

import "bitextmine/mine"

// Rejection is the set of rules that reject a pair, whatever its score.
type Rejection uint8

// The rules.
const (
	SourceLanguage Rejection = 1 << iota // the source is surely in another language than the corpus
	TargetLanguage                       // the target is
	Untranslated                         // both sides are the same text, see Copied
	Label                                // a person rejected it
)

// names are the reasons in a bitext, in the order of the rules.
var names = []string{"src_language", "tgt_language", "untranslated", "label"}

// Reasons returns the names of the rules.
func (r Rejection) Reasons() (reasons []string) {
	for i, name := range names {
		if r&(1<<i) != 0 {
			reasons = append(reasons, name)
		}
	}
	return reasons
}

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
