// Package student is the encoder that a distillation writes: a table of subword vectors in 4 or 8 bits, whose sums
// stand for a tensor of the teacher's graph, and the rest of the teacher's graph after it.
package student
