//go:build race || asan

package indextest

// largest is the number of products in a cell of the suite: detectors slow the oracle down some twentyfold.
const largest = 2e7

// Instrumented is whether a race detector or sanitizer watches.
const Instrumented = true
