// Package fit fits a scorer on known pairs that were injected into two corpora.
//
// Words. An example is a candidate of an injected sentence: it is true if it is a known pair, and false otherwise.
// Examples form groups, one for each known pair, and a fold of the cross-validation has whole groups. An unpaired
// sentence was injected without its translation, so all its examples are false. A set is the examples of one pair of
// corpora with what they depend on; a file keeps it, and several sets make one scorer.
package fit
