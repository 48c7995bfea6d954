// Package view reads what a run has computed: sentences, vectors, neighbour lists, candidates and what became of them.
//
// Files is access to the outputs of a plan's tasks in a store; stages read their inputs through it. Pair puts the
// outputs of one pair of languages together by sentence number. Run is a finished run, opened by its output directory
// or its bitext file. Nothing here writes, and nothing is encoded again that the store has.
package view
