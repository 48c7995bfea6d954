// Package bead aligns the sentences of two documents that are translations of each other.
//
// A span is some sentences that follow each other. A bead is a span of either document that say the same: n sentences
// of the source and m of the target, n:m for short. A bead without a target is a deletion, one without a source an
// insertion; here both are called deletions. The beads of a pair of documents cover each sentence once and keep their
// order, but for two neighbours that change places. A translator who moved a passage breaks that order: such crossing
// blocks are reported apart.
//
// The method is vecalign's (Thompson and Koehn, 2019): each span of up to Options.MaxSpan sentences has the vector of
// its text, a dynamic programme finds the cheapest beads, first between averages of many sentences, then in a narrow
// band around what it found. Its cost is normalised against random sentences. From bertalign (Liu and Zhu, 2022) come
// the margin against neighbouring sentences and the penalty of unequal lengths. What the vectors do not tell, numbers
// and parts of names (links) and the marks at the ends of sentences (endings), is compared as text.
//
// The package is pure: vectors in, beads out.
package bead
