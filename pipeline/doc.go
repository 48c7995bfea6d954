// Package pipeline runs mining from text to bitext.
//
// A stage is a function over files with one output in the store, named by a content key: the digest of the stage's name and
// version, of the parameters that change its output and of its inputs. Whatever is in the store under its key is not computed again.
//
//	shard   one input file            -> Parquet shards of unique sentences
//	encode  one shard                 -> embedding file
//	search  one cell (two shards)     -> both sides' neighbours
//	match   every cell                -> candidates with their verdicts, then the bitext file
//
// Sharding comes first: what it finds fixes the cells.
package pipeline
