package weights

import (
	"runtime"
	"sync"
)

// worthwhile is the least work, in numbers, that pays for a goroutine.
const worthwhile = 1 << 15

// Parallel calls do for ranges that together are n rows of a width, from several goroutines.
func Parallel(n, width int, do func(from, to int)) {
	workers := min(runtime.GOMAXPROCS(0), max(1, n*width/worthwhile))
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() { do(n*w/workers, n*(w+1)/workers) })
	}
	wait.Wait()
}
