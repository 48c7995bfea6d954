// Package blocks keeps records in compressed blocks of two files that only grow: the blocks one after another, and
// where each ends. A record is found by its number. What a killed writer left behind the last block that is listed is
// written over.
package blocks
