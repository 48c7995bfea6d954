// Package document reads documents, aligns their sentences (package bead) by an encoder's vectors, and makes bitext of
// the beads.
package document
