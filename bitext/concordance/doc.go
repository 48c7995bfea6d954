// Package concordance is full-text search over the pairs of a bitext: words, phrases and near spellings on either side,
// regular expressions over the raw text, and what words stand beside those that are looked for.
//
// The index is Bleve's. It holds the texts too, so that a search opens nothing else, and it follows a bitext from night
// to night: only pairs that came, went or were scored anew are written.
//
// # Blocks
//
// Records are kept in blocks of two files that only grow: the blocks one after another, and where each
// ends. A record is found by its number. It has a head, which is kept as it is, and a body, which is compressed with
// those of the block: heads are looked through fast. What a killed writer left behind the last block that is listed is
// written over.
package concordance
