package atomicfile

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestOpenFile: a path of a file that is open already, such as /dev/stdout, goes on where that file is.
func TestOpenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "all")
	if err := os.WriteFile(path, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), link); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{fmt.Sprintf("/dev/fd/%d", f.Fd()), link} {
		if !IsStream(out) {
			t.Errorf("%s is no stream", out)
		}
		if err := WriteBytes(out, []byte("more\n")); err != nil {
			t.Error(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "before\nmore\nmore\n" {
		t.Errorf("it has %q (%v)", got, err)
	}
	if IsStream(path) || IsStream(filepath.Join(path, "missing")) || !IsStream(os.DevNull) {
		t.Error("a file is a stream, or a device is none")
	}
}

// TestLinkToNothingYet: what a link leads to is made.
func TestLinkToNothingYet(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink("later", link); err != nil {
		t.Fatal(err)
	}
	if err := WriteBytes(link, []byte("x")); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != "later" {
		t.Errorf("the link is %q (%v)", to, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "later")); err != nil || string(got) != "x" {
		t.Errorf("the file has %q (%v)", got, err)
	}
}
