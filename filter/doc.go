// Package filter decides which pairs are kept in the bitext and records why the others are rejected.
//
// It contains rules for pairs that are already matched or rejected. From what is known of a pair they compute keep
// (whether the pair is in the bitext) and reasons (why it was rejected; empty for a kept pair). Package score computes
// scores, and package mine matches sentences.
//
// A pair is kept if matching kept it. Matching leaves out the pairs that a Rejection is of: those with a sentence that
// is surely in another language than its corpus (package language), and those whose sides are the same text (Copied).
package filter
