package weights

import (
	"runtime"
	"sync"
)

// minWork is the smallest amount of work, in values, that is worth a goroutine.
const minWork = 1 << 15

// Parallel calls do, from several goroutines, for ranges that together are n rows of the given width.
func Parallel(n, width int, do func(from, to int)) {
	workers := min(runtime.GOMAXPROCS(0), max(1, n*width/minWork))
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() { do(n*w/workers, n*(w+1)/workers) })
	}
	wait.Wait()
}
