// Package export writes tables of bitext in the formats that other programs read: TSV, Moses' line-aligned files, TMX
// 1.4, JSON lines, Parquet, and the layout of Hugging Face datasets. Each format is a Writer of batches; nothing is
// kept in memory between two of them.
package export
