// Package corpus reads text as sentences.
//
// A corpus is all text of one language that a run is given. It is in files of several formats (plain text, BUCC, TSV,
// JSON lines, Parquet), compressed or not. A sentence is one record of such a file: a line or a Parquet row.
//
// Two sentences are the same if their normalised texts are equal. Normalise defines the normalised text, which is also
// the encoder's input. KeyOf hashes it to the sentence key, the identity across shards and runs.
//
// Package input finds and opens the files, package shard cuts their sentences into the files that a run works with.
//
// Every input line is counted: for every file, lines = kept + duplicates + skipped, and skipped is counted by reason.
package corpus
