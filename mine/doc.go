// Package mine turns nearest neighbours into translation pairs. It is pure: no I/O, no cgo, nothing of the rest of the
// program.
//
// Words. A sentence is a row number of its side; rows stand in the order of their sentence keys, so a tie broken by
// row number is a tie broken by key. The neighbours of a sentence are its k nearest rows of the other side by cosine.
// The margin of a pair sets its cosine against both sides' neighbourhoods (Artetxe & Schwenk 2019). A candidate is a
// pair that one of its two sentences proposes: its neighbour of the highest margin. Retrieval chooses among candidates.
package mine
