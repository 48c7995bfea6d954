// Package shard writes and reads shards.
//
// A shard is one Parquet file of sentences, each once, with their provenance (document, URL, line). Cut makes the
// shards of one input file, so the content of other files never changes them. CutTogether makes those of several small
// files. Their bytes depend only on the files' bytes and on the options.
package shard
