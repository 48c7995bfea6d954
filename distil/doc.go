// Package distil makes a fast static encoder, the student, of a slow one, the teacher: a table of subword vectors,
// fitted by least squares to the teacher's features of text that needs no translations.
//
// A distillation chooses the student's pieces (pieces.go, merge.go), cuts the text into those of teacher and student,
// invents sentences for rare ones (cut.go, invent.go), asks the teacher for its features and fits the table (fit.go),
// trains table and head by gradient descent if asked (descend.go), fits further columns for a second encoder if there
// is one (second.go), and rounds, checks and publishes the student (publish.go). Each step takes values and returns
// values.
package distil
