package bead

import (
	"runtime"
	"syscall"
	"testing"
)

// TestLongDocumentsCost: four times as many sentences take about four times the processor time and memory. It does not
// run in parallel, as both are counted for the whole process.
func TestLongDocumentsCost(t *testing.T) {
	cost := func(n int) (seconds, bytes float64) {
		source, target := sentences("a", n), sentences("b", n)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := processorTime(t)
		align(t, source, target, DefaultOptions())
		seconds = processorTime(t) - start
		runtime.ReadMemStats(&after)
		return seconds, float64(after.TotalAlloc - before.TotalAlloc)
	}
	seconds, bytes := cost(1000)
	moreSeconds, moreBytes := cost(4000)
	t.Logf("1,000 sentences: %.2f s, %.0f MB; 4,000: %.2f s, %.0f MB", seconds, bytes/1e6, moreSeconds, moreBytes/1e6)
	if moreSeconds > 8*seconds || moreBytes > 6*bytes {
		t.Errorf("four times as many sentences take %.1f times the time and %.1f times the memory", moreSeconds/seconds, moreBytes/bytes)
	}
}

func processorTime(t *testing.T) float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
