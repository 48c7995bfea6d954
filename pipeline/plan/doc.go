// Package plan says what a run has to do, as data.
//
// A plan is a list of tasks in waves: the tasks of one wave need only outputs of earlier waves, in whatever order and
// on whatever machines they run. It follows from settings, inputs and the ledger alone; no directory is listed for it.
// Which tasks there are is known to the stages (package stage and the folders below it); this package knows none of
// them by name.
//
// Shards and embeddings belong to a language; cells, merged neighbours and the bitext belong to a pair of languages. A
// plan holds any number of pairs, and the keys of a pair do not depend on the others.
//
// Cutting the inputs into shards is a plan of its own, because what it finds decides the rest. A cell is a source shard
// and a target shard. A shard set is the set of the other language's shards that a shard's merged neighbours have seen.
// A night that adds shards starts each merge from the neighbours of the night before, its base, and needs only the
// cells outside the base's shard set: the new row and column.
package plan
