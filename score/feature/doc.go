// Package feature describes the candidates of a mining problem by numbers that a scorer weighs: what the vectors say
// (cosine and margins), what the tokens say (how well the tokens of either sentence are covered by those of the other),
// and what the surface of the texts says (lengths, numbers, names, cognates, punctuation, negation).
//
// Words. A candidate is a pair of sentences (package mine). A token's best cosine is that with the nearest token of the
// other sentence; token coverage is the mean of best cosines, weighted by inverse document frequency. The rivals of a
// candidate are the pairs of its sentences with their other neighbours. The package does no I/O and calls no encoder:
// the texts' surface and the tokens' vectors are given to it.
package feature
