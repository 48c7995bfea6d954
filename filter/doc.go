// Package filter decides which pairs stay in the bitext and says why the others do not.
//
// What belongs here: rules that look at a pair which is already matched or lost, and turn what is known of it into keep
// (whether the pair is bitext) and reasons (names of what speaks against it, empty for a pair that is kept). What
// computes scores belongs to package score, what matches sentences to package mine.
//
// There is one rule today: a pair is kept if matching kept it, and the reason is the verdict otherwise.
package filter
