// Package space says which spaces end a sentence, for languages like Thai that write a space between sentences, but
// between clauses and around numbers and names, too, and no full stop.
//
// A space is described by the characters on either side of it, by the lengths of what stands between it and the spaces
// before and after, and by what stands around those. Each of these features has a weight, found by its hash; the space
// ends a sentence if their sum is above 0. Fit finds the weights by text without marked sentences: it knows the ends of
// paragraphs only (thai.md has the text and the figures).
package space
