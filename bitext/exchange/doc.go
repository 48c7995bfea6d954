// Package exchange reads and writes bitext in the formats that programs exchange it in: TSV, TMX, JSON lines, and two
// line-aligned files (as Moses has them).
//
// A Reader gives one pair at a time, in memory that does not grow with the file, whatever the file claims of itself:
// lines and TMX units have a maximum length, and elements of XML a maximum depth. Any file may be compressed. A File is
// all pairs of a file, to be written again with columns added and nothing left out. ReadKnown reads pairs that are
// known to be translations.
package exchange
