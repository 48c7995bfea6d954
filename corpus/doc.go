// Package corpus turns text into shards.
//
// A corpus is all text of one language given to a run. It stands in files of several formats (plain text, BUCC, TSV,
// JSON lines, Parquet), compressed or not. A sentence is one record of such a file: a line, or a Parquet row.
//
// Two sentences are the same when their normalised texts are: Normalise defines that text, which is also what the
// encoder is given, and KeyOf hashes it to the sentence key, the identity used across shards and runs.
//
// A shard is one Parquet file of sentences, unique within it, with their provenance (document, URL, line). It is cut
// from one input file, so what other files hold never changes it, and its bytes depend on nothing but that input's
// bytes and the options.
//
// No input line is lost without a count: for every file, lines = kept + duplicates + skipped, by reason.
package corpus
