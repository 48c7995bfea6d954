package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

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

// TestWriteKeepsWhatItIs: a link stays and leads to the new content, a file keeps its mode, and a pipe is written to.
func TestWriteKeepsWhatItIs(t *testing.T) {
	dir := t.TempDir()
	file, link, pipe := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	if err := errors.Join(os.WriteFile(file, []byte("old"), 0o600), os.Symlink("file", link), unix.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := WriteBytes(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	at, err := os.Lstat(link)
	if err != nil || at.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", at, err)
	}
	data, err := os.ReadFile(file)
	info, failure := os.Stat(file)
	if err != nil || failure != nil || string(data) != "new" || info.Mode().Perm() != 0o600 {
		t.Errorf("the link leads to %q with mode %v, %v", data, info.Mode(), errors.Join(err, failure))
	}
	read := make(chan string)
	go func() {
		data, err := os.ReadFile(pipe)
		read <- fmt.Sprint(string(data), err)
	}()
	if err := WriteBytes(pipe, []byte("through")); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "through<nil>" {
		t.Errorf("the pipe gave %s", got)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe became %v, %v", info, err)
	}
	if err := WriteBytes(dir, nil); !badinput.Is(err) || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("a directory gave %v", err)
	}
}

func TestRefuseInput(t *testing.T) {
	file, link := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "link")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink(file, link)); err != nil {
		t.Fatal(err)
	}
	if err := RefuseInput(link, "absent", file); !badinput.Is(err) || !strings.Contains(err.Error(), "is the file that is read") {
		t.Errorf("a link to the input gave %v", err)
	}
	for _, out := range []string{"absent", os.DevNull} {
		if err := RefuseInput(out, file, os.DevNull); err != nil {
			t.Errorf("%s: %v", out, err)
		}
	}
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

// TestBadInputIsNotOfTheOutput: what is wrong with another file is not said of the one that is written.
func TestBadInputIsNotOfTheOutput(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := WriteBytes(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	bad := badinput.Errorf("in.tsv:3: no pair")
	for _, out := range []string{path, os.DevNull} {
		if err := Write(out, func(*os.File) error { return bad }); !badinput.Is(err) || err.Error() != bad.Error() {
			t.Errorf("%s: error %v", out, err)
		}
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

// TestWritable: what cannot be written is refused as Write refuses it, and nothing is left of the trial.
func TestWritable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "no", "x"), filepath.Join(file, "x"), dir, "-"} {
		wrote, tried := WriteBytes(path, nil), Writable(path)
		if !badinput.Is(wrote) || !badinput.Is(tried) || wrote.Error() != tried.Error() {
			t.Errorf("%s: writing gave %v, trying %v", path, wrote, tried)
		}
	}
	for _, path := range []string{file, filepath.Join(dir, "new"), os.DevNull} {
		if err := Writable(path); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{file, filepath.Join(file, "x"), filepath.Join(file, "x", "y")} {
		if err := WritableDir(path); !badinput.Is(err) {
			t.Errorf("directory %s: %v", path, err)
		}
		if err := WritableWithin(path); !badinput.Is(err) || !strings.Contains(err.Error(), path) {
			t.Errorf("within directory %s: %v", path, err)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "new"), filepath.Join(dir, "new", "deep")} {
		if err := errors.Join(WritableDir(path), WritableWithin(path)); err != nil {
			t.Errorf("directory %s: %v", path, err)
		}
	}
	only(t, file)
	if got, err := os.ReadFile(file); err != nil || string(got) != "kept" {
		t.Errorf("%q, %v", got, err)
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

// TestUmask: a published file has the mode that the umask leaves.
func TestUmask(t *testing.T) {
	if path := os.Getenv("MINE_TEST_WRITES"); path != "" {
		if err := WriteBytes(path, nil); err != nil {
			t.Fatal(err)
		}
		return
	}
	for mask, want := range map[string]os.FileMode{"022": 0o644, "077": 0o600, "002": 0o664} {
		path := filepath.Join(t.TempDir(), "x")
		cmd := exec.Command("sh", "-c", "umask "+mask+"; exec \"$0\" -test.run=^TestUmask$", os.Args[0])
		cmd.Env = append(os.Environ(), "MINE_TEST_WRITES="+path)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v", out, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("umask %s: %v, %v", mask, info, err)
		}
	}
}

// TestLeftovers: a write removes what a killed process left of the same file, and nothing that is being written.
func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	path, long := filepath.Join(dir, "x"), time.Now().Add(-time.Hour)
	killed, other := filepath.Join(dir, ".x.1"+Suffix), filepath.Join(dir, ".y.1"+Suffix)
	for _, name := range []string{killed, other} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, long, long); err != nil {
			t.Fatal(err)
		}
	}
	err := Write(path, func(f *os.File) error {
		if err := os.Chtimes(f.Name(), long, long); err != nil {
			return err
		}
		return WriteBytes(path, []byte("meanwhile"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(killed); !os.IsNotExist(err) {
		t.Errorf("what was left is there: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("another file's: %v", err)
	}
}

// TestOpenRegular: a named pipe is refused at once.
func TestOpenRegular(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, flag := range []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_CREATE} {
		if _, err := OpenRegular(pipe, flag); !badinput.Is(err) {
			t.Errorf("flag %d: %v", flag, err)
		}
	}
	if _, _, err := Digest(pipe); !badinput.Is(err) {
		t.Errorf("digest: %v", err)
	}
}
