// Package rewrite changes published encoders: it quantises them, and computes the vectors that their manifests may have
// subtracted.
//
// Quantise writes an encoder again with weights and products in 8 bits. The scale of a product's input is that of one
// row, or of one sentence, so a vector still depends on its sentence alone and batches stay whole.
//
// Centre writes the mean vector of sentences (model.Centre), every language weighing the same, or that of each
// language.
package rewrite
