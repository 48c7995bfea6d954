package bitext_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// Within runs read. It fails the test if read takes longer than 20 seconds, as an endless loop would, or allocates more
// than most bytes in total.
func Within(t *testing.T, most uint64, read func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan struct{})
	go func() {
		defer close(done)
		read()
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("reading has not ended after 20 s")
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > most {
		t.Errorf("reading allocated %d MiB, at most %d are allowed", took>>20, most>>20)
	}
}

// Save writes a Parquet file into a directory of the test and returns its path.
func Save(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
