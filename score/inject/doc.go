// Package inject puts known pairs among the sentences of two corpora and searches them together, so that what becomes
// of the pairs tells what becomes of the corpora's own.
//
// Words. The host is the two corpora with their vectors and neighbour lists. A known pair is injected whole, or only
// one of its sentences is, which is then unpaired: whatever it is matched with is wrong. Nothing that is injected is
// written anywhere.
package inject
