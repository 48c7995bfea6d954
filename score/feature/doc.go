// Package feature computes the numbers that a scorer weighs for each candidate. They come from the vectors (cosine and
// margins), from the tokens (how well the tokens of each sentence are covered by those of the other) and from the
// surface of the texts (lengths, numbers, names, cognates, punctuation, negation).
//
// Terms. A candidate is a pair of sentences (package mine). A token's best cosine is that with the nearest token of the
// other sentence. Token coverage is the mean of best cosines, weighted by inverse document frequency. The rivals of a
// candidate are the pairs of its sentences with their other neighbours. The package does no I/O and calls no encoder:
// it is given the surface of the texts and the vectors of the tokens.
package feature
