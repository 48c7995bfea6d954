// Package filter tells what a text says of itself (its numbers, names, punctuation and length), without an encoder.
package filter
