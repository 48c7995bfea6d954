package usage

import (
	"bytes"
	"os"
	"strconv"
	"sync/atomic"
	"time"
)

// AnonymousMemory is the memory of this process that is not of mapped files, in bytes; 0 if the system does not say.
func AnonymousMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(status) {
		if value, is := bytes.CutPrefix(line, []byte("RssAnon:")); is {
			kilobytes, _, _ := bytes.Cut(bytes.TrimSpace(value), []byte(" "))
			n, _ := strconv.ParseInt(string(kilobytes), 10, 64) // 0 where it is no number
			return n << 10
		}
	}
	return 0
}

// watchEvery is the pause between two looks at the memory: reading it takes some 20 microseconds.
const watchEvery = 50 * time.Millisecond

// WatchAnonymous watches AnonymousMemory until the function that it returns is called, which returns the most that was
// seen.
func WatchAnonymous() (end func() int64) {
	var most atomic.Int64
	most.Store(AnonymousMemory())
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				most.Store(max(most.Load(), AnonymousMemory()))
			}
		}
	}()
	return func() int64 {
		close(stop)
		<-stopped
		return max(most.Load(), AnonymousMemory())
	}
}
