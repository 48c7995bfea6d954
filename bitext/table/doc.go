// Package table reads and writes bitext as a table, whatever its format and columns: Parquet, TSV, JSON lines, TMX and
// two line-aligned files. It is for programs that pass on columns that they do not know.
//
// A Reader gives batches of rows; a Batch gives columns as texts or numbers, and makes a batch with further columns. A
// table has at least the two columns of texts. Memory does not grow with the file.
package table
