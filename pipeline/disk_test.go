package pipeline

import (
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"bitextmine/internal/badinput"
)

// smallDisk mounts an empty file system of the given size.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("a full disk needs a small tmpfs, which only root may mount: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func enlarge(t *testing.T, dir, size string) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT, "size="+size); err != nil {
		t.Fatal(err)
	}
}

func readOnly(t *testing.T, dir string) {
	t.Helper()
	if err := unix.Mount("tmpfs", dir, "tmpfs", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
}

// TestFullDiskOfTheCache: a bucket's outputs fill the disk of the cache, which mine plan looks at, and whose setting is
// named.
func TestFullDiskOfTheCache(t *testing.T) {
	cache := smallDisk(t, "1m")
	t.Setenv("MINE_CACHE", cache)
	cfg := testConfig(corpora(t, 3000), filepath.Join(t.TempDir(), "out"))
	cfg.Work = "mem://"
	e, err := Plan(t.Context(), cfg, options())
	if !badinput.Is(err) || !strings.Contains(err.Error(), "MINE_CACHE") || e.DiskFree == 0 || e.DiskFree > 1<<20 {
		t.Errorf("plan: error %v, free %+v", err, e)
	}
	_, err = Run(t.Context(), cfg, options())
	if !badinput.Is(err) || !strings.Contains(err.Error(), "the disk is full") || !strings.Contains(err.Error(), "MINE_CACHE") || strings.Contains(err.Error(), "\n") {
		t.Errorf("run: error %v", err)
	}
}
