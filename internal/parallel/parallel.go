// Package parallel divides work among processors.
package parallel

import (
	"runtime"
	"sync"
)

// minWork is the smallest amount of work, in values, that is worth a goroutine.
const minWork = 1 << 15

// Ranges calls do, from several goroutines where these are worth it, for ranges that together are n rows of the given
// width.
func Ranges(n, width int, do func(from, to int)) {
	workers := min(runtime.GOMAXPROCS(0), max(1, n*width/minWork))
	if workers == 1 {
		do(0, n)
		return
	}
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() { do(n*w/workers, n*(w+1)/workers) })
	}
	wait.Wait()
}
