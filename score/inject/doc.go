// Package inject adds known pairs to the sentences of two corpora and searches them together. The results for the known
// pairs show what to expect for the corpora's own sentences.
//
// Terms. The host is the two corpora with their vectors and neighbour lists. A known pair is injected whole or with
// only one of its sentences. That sentence is then unpaired: any match for it is wrong. Injected sentences are never
// written to an output.
package inject
