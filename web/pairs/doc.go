// Package pairs gives access to the pairs of a bitext file by row, by keys and by lists such as "rejected for this
// reason, nearest to the threshold first".
//
// A Parquet file is read once, from begin to end. Numbers and keys stay in memory, some 70 bytes a pair; texts and
// origins go to a temporary file without a name, from which any row is read at once.
package pairs
