//go:build !race && !asan

package indextest

import "math"

// maxProducts is the maximum number of products in a cell of the suite: no limit.
const maxProducts = math.MaxInt

// Instrumented is true if a race detector or sanitizer is on.
const Instrumented = false
