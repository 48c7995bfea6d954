// Package plan computes what a run has to do, and does nothing.
//
// A plan is a list of tasks in waves: the tasks of one wave need only outputs of earlier waves, in whatever order and on whatever
// machines they run. It follows from settings, inputs and the ledger alone; no directory is listed for it.
//
// Sharding is a plan of its own, of one wave, because what it finds fixes the rest: the shards, and so the cells. A cell is a
// source shard and a target shard. A cover is the set of the other side's shards that a shard's merged neighbours have seen. A night that adds
// shards starts each merge from the neighbours of the night before, its base, and needs only the cells outside the base's cover:
// the new row and column.
package plan
