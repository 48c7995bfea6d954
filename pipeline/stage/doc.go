// Package stage says what a stage is: a kind of task, described by one value and registered once.
//
// Each stage has a folder below this one. Plans, costs, keys, workers, engines, status and garbage collection go over
// the registered descriptors and name no stage, so adding one takes a folder and a registration:
//
//	shard   one input file            -> Parquet shards of unique sentences
//	encode  one shard                 -> embedding file
//	search  one cell (two shards)     -> both sides' neighbours
//	merge   one shard's cells         -> its neighbours over the other language
//	pairdocs  the documents of both sides -> pairs of them (on demand)
//	align     a source shard's documents and their partners -> beads (on demand)
//	shortlist  a pair's neighbours -> the rows that two-stage mining encodes again (on demand)
//	refine  a shard's such rows   -> their vectors of the strong encoder (on demand)
//	judge   a pair's neighbours -> a judge's logits of the candidates in doubt (on demand)
//	match   every cell of a pair      -> candidates with their verdicts, then the bitext file
//	fit     a pair, known pairs       -> examples that a scorer is fitted on (on demand)
//	calibrate  a pair, known pairs    -> what a margin threshold is estimated from (on demand)
package stage
