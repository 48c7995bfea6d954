// Package mine turns nearest neighbours into translation pairs. It is pure: no I/O, no cgo, and no imports from the
// rest of the program.
//
// Terms. A sentence is a row number of its side. Rows are in the order of their sentence keys, so breaking a tie by row
// number breaks it by key. The neighbours of a sentence are its k nearest rows of the other side by cosine. The margin
// of a pair compares its cosine with the neighbourhoods of both sentences (Artetxe & Schwenk 2019). A candidate is a
// pair that one of its two sentences proposes: a sentence proposes its neighbour with the highest margin. Retrieval
// chooses among the candidates.
package mine
