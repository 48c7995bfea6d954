package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"bitextmine/internal/badinput"
)

func TestWriteReplacesWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	for _, content := range []string{"first", "second, longer", ""} {
		if err := WriteBytes(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != content {
			t.Fatalf("%q, %v", got, err)
		}
	}
	only(t, path)
}

func TestFailedWriteLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := WriteBytes(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(f *os.File) error {
		if _, err := f.WriteString("half"); err != nil {
			t.Fatal(err)
		}
		return broken
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), path) {
		t.Errorf("error %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "old" {
		t.Errorf("%q, %v", got, err)
	}
	only(t, path)
}

func TestFullDiskIsOneSentence(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	err := Write(path, func(*os.File) error { return &os.PathError{Op: "write", Path: path, Err: syscall.ENOSPC} })
	if !badinput.Is(err) || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "the disk is full") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v", err)
	}
}

func TestMissingDirectory(t *testing.T) {
	if err := WriteBytes(filepath.Join(t.TempDir(), "no", "x"), nil); !badinput.Is(err) {
		t.Errorf("error %v", err)
	}
}

// only checks that nothing stands beside path.
func only(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside %s: %v, %v", path, entries, err)
	}
}
