// Package distil makes a fast static encoder, the student, of a slow one, the teacher: a table of subword vectors,
// fitted by least squares on what the teacher computes for text that needs no translations.
//
// # Text
//
// The package also reads the text of a distillation as its teacher's ids, invents sentences for pieces that the text
// has seldom, and asks the teacher for its vectors.
//
// # Pieces
//
// The package also prunes a teacher's SentencePiece vocabulary and joins its ids to the student's.
package distil
