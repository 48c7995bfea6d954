// Package eval evaluates encoders and mined pairs with the published protocols of the field, each under its own name.
// What papers call "BUCC F1" is four different numbers. Only figures of the same protocol may be compared
// (docs/evaluation.md).
//
// Terms. A protocol is a measure with all its settings: k, margin, which sentences count, how the threshold is found. A
// side is the sentences of one language of a test set. Gold is the set of pairs that are translations. A half is the
// train or test part of a BUCC set: the threshold is found on one and applied to the other.
//
// Order. Every measure sorts its sentences by key (the hash of the stripped text, then the id). Ties are broken in this
// order, so no result depends on the order of the input. There is one exception: line-aligned sets compare line
// numbers, so of two lines with the same text the first is the nearest.
//
// Units. Precision, recall, F1, accuracy, error rates and correlations are in percent, as papers print them. Scores and
// thresholds are margins or cosines.
package eval
