package usage

import (
	"testing"
	"time"
)

// TestWatchAnonymous: memory that was written and freed again was seen.
func TestWatchAnonymous(t *testing.T) {
	const size = 256 << 20
	before := AnonymousMemory()
	if before == 0 {
		t.Fatal("the system does not say how much memory is anonymous")
	}
	end := WatchAnonymous()
	held := make([]byte, size)
	for i := 0; i < size; i += 4096 {
		held[i] = 1
	}
	time.Sleep(3 * watchEvery)
	if held[4096] != 1 {
		t.Error("the memory was not written")
	}
	if seen := end(); seen < before+size*9/10 {
		t.Errorf("%d MiB were seen, %d before %d were written", seen>>20, before>>20, size>>20)
	}
}
