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

// TestWriteDirThroughALink: the link stays one, and what it leads to has the files, whether it was there or not.
func TestWriteDirThroughALink(t *testing.T) {
	for _, there := range []bool{false, true} {
		parent, elsewhere := t.TempDir(), t.TempDir()
		link, target := filepath.Join(parent, "link"), filepath.Join(elsewhere, "target")
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		if there {
			if err := os.Mkdir(target, 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if err := WritableDir(link); err != nil {
			t.Error(err)
		}
		if err := WriteDir(link, map[string][]byte{"a": []byte("1")}); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("the link is %v now, error %v", info, err)
		}
		if got, err := os.ReadFile(filepath.Join(target, "a")); err != nil || string(got) != "1" {
			t.Errorf("the file has %q, error %v", got, err)
		}
		for dir, want := range map[string]int{parent: 1, elsewhere: 1} {
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != want {
				t.Errorf("%s has %v, error %v", dir, entries, err)
			}
		}
	}
}

// TestReplaceDir: a directory takes the place of another, what a killed process left goes, and if nothing can take its
// place it stays.
func TestReplaceDir(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "model")
	for name, in := range map[string]string{"before": dir, "new": dir + Suffix, "left": dir + ".old" + Suffix} {
		if err := os.MkdirAll(filepath.Join(in, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := ReplaceDir(dir, filepath.Join(parent, "gone")); err == nil {
		t.Error("a directory that is not there took the place")
	}
	if _, err := os.Stat(filepath.Join(dir, "before")); err != nil {
		t.Errorf("the directory before: %v", err)
	}
	if err := ReplaceDir(dir, dir+Suffix); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(parent)
	if _, gone := os.Stat(filepath.Join(dir, "new")); gone != nil || err != nil || len(entries) != 1 {
		t.Errorf("new: %v; in the folder: %v, error %v", gone, entries, err)
	}
}
