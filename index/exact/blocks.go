package exact

import (
	"math"

	"bitextmine/index/kernel"
)

// blocks cuts a side's n positions into count blocks of size (the last may be smaller). Position p stands for distinct
// row p*step mod n, or rows[p] where there are any.
type blocks struct {
	n, size, count, step int
	rows                 []int32
}

// cut makes blocks of nearly equal size, at most size rows each. Their number is a multiple of workers if there are at
// least that many blocks.
func cut(n, size, workers int) blocks {
	count := (n + size - 1) / size
	// A block below a thousand rows is not worth a worker's while.
	if rounded := (count + workers - 1) / workers * workers; n/rounded >= 1024 {
		count = rounded
	}
	size = (n + count - 1) / count
	return blocks{n: n, size: size, count: (n + size - 1) / size, step: goldenStep(n)}
}

// runBytes is the size of the rows that stand together in a block in runs. The system maps a file in the pieces that
// its cache has, of up to 2 MiB, so with less more of the side would be in memory.
const runBytes = 2 << 20

// inRuns has the blocks take runs of consecutive rows instead of single ones, of which a large side has hundreds. Then
// the rows of a block are in a small part of the side's file.
func (b blocks) inRuns(rowBytes int) blocks {
	run := max(1, min(runBytes/rowBytes, b.n/256))
	runs := (b.n + run - 1) / run
	step := goldenStep(runs)
	b.rows = make([]int32, 0, b.n)
	for i := range runs {
		first := i * step % runs * run
		for row := first; row < min(first+run, b.n); row++ {
			b.rows = append(b.rows, int32(row))
		}
	}
	return b
}

// inParts divides rows 0 to n-1 into parts of at most size consecutive rows, nearly equal, and each part into blocks.
func inParts(n, size, blockRows int) []blocks {
	count := (n + size - 1) / size
	parts := make([]blocks, count)
	for i := range parts {
		lo, hi := i*n/count, (i+1)*n/count
		parts[i] = cut(hi-lo, blockRows, 1)
		if count > 1 {
			parts[i].rows = make([]int32, hi-lo)
			for p := range parts[i].rows {
				parts[i].rows[p] = int32(lo + p*parts[i].step%(hi-lo))
			}
		}
	}
	return parts
}

// span is the rows of block i.
func (b blocks) span(i int) kernel.Span {
	lo, hi := b.bounds(i)
	return kernel.Span{Lo: lo, Hi: hi, Step: b.step, Rows: b.rows}
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
