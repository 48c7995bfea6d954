// Package score decides between candidates by a learned probability in place of the margin.
//
// Words. A scorer is a logistic regression over the features of a candidate (package feature); its file has the
// weights, the encoder that they were fitted on, and how well the probabilities hold. A problem is the neighbour lists
// of two sides and a way to read their texts, from which the features are computed. Candidates are ranked by
// probability, matched one-to-one, and cut at a threshold, which is a probability too. Package fit fits a scorer on
// known pairs that package inject puts among the sentences of two corpora; package calibration estimates what to expect
// of a threshold from them.
package score
