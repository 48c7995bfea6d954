// Package eval judges encoders and mined pairs by the field's published protocols, each under its own name: what papers call
// "BUCC F1" is four different numbers, and only those that share a protocol may stand in one table (docs/evaluation.md).
//
// Words. A protocol is a measure together with all its settings: k, margin, which sentences count, where the threshold comes
// from. A side is the sentences of one language of a test set. Gold is the set of pairs that are translations. A half is the
// train or the test part of a BUCC set: the threshold is found on one and used on the other.
//
// Order. Every measure sees its sentences in the order of their keys (the hash of the stripped text, then the id), so that a
// tie is broken the same way whatever the order of the input: a result does not depend on it. The one exception is stated
// where it applies: line-aligned sets compare line numbers, so of two lines with the same text the first is the nearest.
//
// Units. Precision, recall, F1, accuracy and error rates are in percent, as papers print them; correlations are too. Scores
// and thresholds are margins or cosines.
package eval
