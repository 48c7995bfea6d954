// Package distil makes a fast static encoder, the student, of a slow one, the teacher: a table of subword vectors,
// fitted by least squares on what the teacher computes for text that needs no translations.
package distil
