//go:build race || asan

package indextest

// maxProducts is the maximum number of products in a cell of the suite: detectors make the oracle about twenty times
// slower.
const maxProducts = 2e7

// Instrumented is true if a race detector or sanitizer is on.
const Instrumented = true
