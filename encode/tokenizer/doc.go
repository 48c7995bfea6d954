// Package tokenizer turns text into the ids that an encoder's graph gets.
//
// The tokenizer's file (SentencePiece or WordPiece) splits a text into pieces and numbers them. The manifest (package
// model) says how these numbers become ids of the graph, and which special tokens and prefix a text gets.
package tokenizer
