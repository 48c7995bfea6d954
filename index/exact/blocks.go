package exact

import "math"

// blocks cuts a side's n positions into count blocks of size (the last may be smaller). Position p stands for distinct
// row p*step mod n.
type blocks struct{ n, size, count, step int }

// cut makes blocks of at most size rows, as many as a multiple of workers where there are that many, and nearly equal.
func cut(n, size, workers int) blocks {
	count := (n + size - 1) / size
	// A block below a thousand rows is not worth a worker's while.
	if rounded := (count + workers - 1) / workers * workers; n/rounded >= 1024 {
		count = rounded
	}
	size = (n + count - 1) / count
	return blocks{n: n, size: size, count: (n + size - 1) / size, step: goldenStep(n)}
}

func (b blocks) bounds(i int) (lo, hi int) { return i * b.size, min((i+1)*b.size, b.n) }

// goldenStep returns the number nearest above n divided by the golden ratio that has no divisor in common with n.
func goldenStep(n int) int {
	step := max(int(float64(n)/math.Phi), 1)
	for gcd(step, n) != 1 {
		step++
	}
	return step
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
