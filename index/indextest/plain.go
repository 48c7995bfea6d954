//go:build !race && !asan

package indextest

// Instrumented is true if a race detector or sanitizer is on.
const Instrumented = false
