// Package word aligns the words of sentence pairs.
//
// The model is IBM model 2 with a diagonal prior, as reparameterised by Dyer, Chahuneau and Smith (2013), "A Simple,
// Fast, and Effective Reparameterization of IBM Model 2" (the program fast_align). In a pair of n source and m target
// words, target word j is a translation of source word i, or of no word (NULL):
//
//	p(a_j = NULL) = p0,  p(a_j = i) = (1-p0) exp(-λ |i/n - j/m|) / Z_j,  p(f_j | e_{a_j}) = t(f_j | e_{a_j})
//
// Expectation maximisation estimates t from all pairs at once, and λ too if wanted. With a Dirichlet prior over
// t (variational Bayes), rare words collect fewer wrong translations. The model is estimated in both directions, and
// the two alignments are combined (Symmetrise).
//
// Expected counts are summed as integers, in units of 2^-32. So neither the number of threads nor the order of the
// pairs changes any alignment.
package word
