// Package index finds nearest neighbours between the two sides of a cell.
//
// A cell is one source shard and one target shard. Searching it yields, for every row of either side, its k nearest
// rows on the other side. The implementations are in the packages below this one (exact, faiss). backend.Open opens one
// by name.
//
// This package has what they share. Every implementation finds candidates with arithmetic of its own, which is fast and
// slightly inaccurate. Then the candidates' cosines are computed again in one fixed order, and the k nearest are chosen
// from these. An exact implementation also proves that no other row belongs in the list: the approximate score of every
// such row, plus a bound on its error, is below the last cosine in the list. If this cannot be proven for a list,
// because many rows tie at its end, it is computed from all rows. So the result equals a float64 brute force, whatever
// the source of the candidates.
//
// # Neighbour lists
//
// The package also reads and writes neighbour lists: cell files, which have the lists of both sides of a cell, and
// list files, which have the lists of one shard over several shards of the other side. docs/formats.md has both
// formats.
package index
