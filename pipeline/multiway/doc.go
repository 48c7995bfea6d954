// Package multiway is a run over many pairs of languages. Each pair is a run of its own into OUT/SRC-TGT, and all share
// one work directory, where shards, vectors and neighbours go by their content: a language is cut and encoded once,
// whichever pair comes first, and a pair's bitext does not depend on the others. What was kept of all pairs is then
// joined into one table of sentences in three and more languages.
//
// # The table
//
// A table joins the bitexts of several pairs of languages into one table: sentences of three and more
// languages that are translations of each other.
package multiway
