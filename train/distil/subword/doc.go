// Package subword prunes a teacher's SentencePiece vocabulary and joins its ids to the student's.
package subword
