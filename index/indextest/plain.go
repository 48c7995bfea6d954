//go:build !race && !asan

package indextest

import "math"

// largest is the number of products in a cell of the suite: no limit.
const largest = math.MaxInt

// Instrumented is whether a race detector or sanitizer watches.
const Instrumented = false
