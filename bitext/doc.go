// Package bitext defines the table of mined pairs and reads and writes it as Parquet.
//
// A row is a pair of sentences with its score, the origin of both sentences and further columns. Rows of the bitext
// itself have keep = true. Other rows exist only if the run was asked for all candidates; their reasons say why they
// were rejected. The file is deterministic: the same rows and metadata give the same bytes.
package bitext
