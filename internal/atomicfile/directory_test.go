package atomicfile

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"bitextmine/internal/badinput"
)

// TestWriteDir: a directory is made, replaced as one, and shared with other files, and what a killed process left goes.
func TestWriteDir(t *testing.T) {
	parent := t.TempDir()
	dir, left := filepath.Join(parent, "deep", "out"), filepath.Join(parent, "deep", ".out.1"+Suffix)
	check := func(want map[string]string) {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) != len(want) {
			t.Errorf("%d files, want %d, error %v", len(entries), len(want), err)
		}
		for name, content := range want {
			if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != content {
				t.Errorf("%s has %q, want %q, error %v", name, got, content, err)
			}
		}
		if beside, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(beside) != 1 {
			t.Errorf("%v is left beside the directory, error %v", beside, err)
		}
	}
	write := func(a, b string) {
		t.Helper()
		if err := WriteDir(dir+"/", map[string][]byte{"a": []byte(a), "b": []byte(b)}); err != nil {
			t.Fatal(err)
		}
	}
	write("1", "2")
	check(map[string]string{"a": "1", "b": "2"})
	if err := os.MkdirAll(filepath.Join(left, "half"), 0o755); err != nil {
		t.Fatal(err)
	}
	if long := time.Now().Add(-time.Hour); os.Chtimes(left, long, long) != nil {
		t.Fatal("the age of a directory cannot be set")
	}
	write("3", "4")
	check(map[string]string{"a": "3", "b": "4"})
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != DirMode {
		t.Errorf("mode %v, error %v", info.Mode(), err)
	}
	if err := WriteBytes(filepath.Join(dir, "own"), nil); err != nil {
		t.Fatal(err)
	}
	write("5", "6")
	check(map[string]string{"a": "5", "b": "6", "own": ""})
	if err := WriteDir(filepath.Join(dir, "own"), map[string][]byte{"a": nil}); !badinput.Is(err) {
		t.Errorf("error %v of a directory in the place of a file", err)
	}
}
