// Package bitext is the mined table: its schema, and reading and writing it as Parquet.
//
// A row is a pair of sentences with its score, where both came from, and what is known of it. A row that is bitext has keep =
// true; other rows are there only when a run was asked for every candidate, and their reasons say why they were not kept.
// The file is deterministic: the same rows and metadata give the same bytes.
package bitext
