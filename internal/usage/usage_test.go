package usage

import (
	"runtime"
	"testing"
)

// TestUsage checks that work takes processor time and that memory that was written to is resident.
func TestUsage(t *testing.T) {
	before := CPUSeconds()
	block := make([]byte, 64<<20)
	for CPUSeconds() < before+0.02 {
		for i := range block {
			block[i]++
		}
	}
	runtime.KeepAlive(block)
	if peak := PeakMemory(); peak < 64<<20 {
		t.Errorf("the peak is %d bytes, with a block of %d written", peak, len(block))
	}
}
