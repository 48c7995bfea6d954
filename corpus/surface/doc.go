// Package surface reads off the surface of a sentence: its numbers, names, word beginnings, punctuation and negation,
// in a form that is equal in many languages. Numbers are normalised (separators, leading zeros, digits of every
// script), words folded (case and accents apart). The scorer's features and the filter's annotations are made of it.
package surface
