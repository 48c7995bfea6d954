// Package exporting takes pairs from a table of bitext by conditions, divides them into training, development and test
// sets, and writes them in a format of package curate/exporting.
//
// Memory does not grow with the table. Sorting reads the table once for the values and then once for every half a
// million rows that are exported.
//
// # Formats
//
// The package also writes tables of bitext in the formats that other programs read: TSV, Moses' line-aligned files, TMX
// 1.4, JSON lines, Parquet, and the layout of Hugging Face datasets. Each format is a Writer of batches; nothing is
// kept in memory between two of them.
package exporting
