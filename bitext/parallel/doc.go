// Package parallel joins the bitexts of several pairs of languages into one table: sentences of three and more
// languages that are translations of each other.
package parallel
