// Package concordance is full-text search over the pairs of a bitext: words, phrases and near spellings on either side,
// regular expressions over the raw text, and what words stand beside those that are looked for.
//
// The index is Bleve's. It holds the texts too, so that a search opens nothing else, and it follows a bitext from night
// to night: only pairs that came, went or were scored anew are written.
package concordance
