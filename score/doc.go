// Package score chooses between candidates by a learned probability instead of the margin.
//
// Terms. A scorer is a logistic regression over the features of a candidate (package feature). Its file has the
// weights, the encoder that they were fitted on, and the quality of the probabilities. A problem is the neighbour lists
// of two sides and a way to read their texts; the features are computed from these. Candidates are ranked by
// probability, matched one-to-one and cut at a threshold, which is a probability too. Package fit fits a scorer on
// known pairs that package inject adds to the sentences of two corpora. Package calibration uses such pairs to estimate
// the precision and recall of each threshold.
package score
