// Package blocks keeps records in blocks of two files that only grow: the blocks one after another, and where each
// ends. A record is found by its number. It has a head, which is kept as it is, and a body, which is compressed with
// those of the block: heads are looked through fast. What a killed writer left behind the last block that is listed is
// written over.
package blocks
