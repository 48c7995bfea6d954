// Package filter decides which pairs are kept in the bitext and records why the others are rejected.
//
// It contains rules for pairs that are already matched or rejected. From what is known of a pair they compute keep
// (whether the pair is in the bitext) and reasons (why it was rejected; empty for a kept pair). Package score computes
// scores, and package mine matches sentences.
//
// There is one rule today: a pair is kept if matching kept it; otherwise the reason is the verdict.
package filter
