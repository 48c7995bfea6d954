// Package testset reads the published test sets of the protocols: BUCC's halves, line-aligned files (Tatoeba, FLORES,
// NTREX), STS sets, gold pairs and the negatives of xsim++. It also makes negatives by rules.
package testset
