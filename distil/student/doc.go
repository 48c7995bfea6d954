// Package student is the encoder that a distillation writes: a table of subword vectors in 4 or 8 bits, whose sums
// stand for a tensor of the teacher's graph, and what the teacher's graph does after it.
package student
