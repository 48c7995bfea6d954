// Package index finds nearest neighbours between the two sides of a cell.
//
// A cell is one source shard and one target shard. Searching it yields, for every row of either side, its k nearest rows on
// the other side. Implementations live in the packages below this one (exact, faiss); backend.Open picks one by name.
//
// What they share is here. Every implementation finds candidates with arithmetic of its own, fast and slightly wrong;
// then the candidates' cosines are computed again in one fixed order and the k nearest are chosen from those. An exact
// implementation also proves that no row outside the candidates can belong into the list: each such row's approximate
// score, plus a bound on its error, is below the last cosine kept. A list that cannot be proven, because many rows tie at its end,
// is computed from all rows. So its result is that of a float64 brute force, whatever found the candidates.
package index
