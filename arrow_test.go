package bitextmine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const (
	arrowScript = "scripts/arrow"
	arrowPatch  = "third_party/arrow.patch"
	arrowCopy   = ".cache/made-by-make-setup/arrow"
)

// TestArrowIsMadeOffline: two set-ups at once make one patched copy of the module, without the network once the module
// has been fetched. A new patch makes another copy; a patch that does not apply and a module of another digest are
// refused in one sentence, and leave the copy as it was.
func TestArrowIsMadeOffline(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a folder")
	for _, path := range []string{arrowScript, arrowPatch} {
		write(t, filepath.Join(dir, path), read(t, path))
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if out, err := makeArrow(dir); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	both.Wait()
	made := func(name string) string { return read(t, filepath.Join(dir, arrowCopy, name)) }
	if mended := "parquet/compress/exactly.go"; made(mended) != read(t, filepath.Join(arrowCopy, mended)) {
		t.Errorf("%s is not that of the copy here: make setup", mended)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, arrowCopy+".*")); len(left) != 1 {
		t.Errorf("beside the copy there is %q, not a lock alone", left)
	}

	const added = "+// An addition.\n"
	changed := strings.Replace(read(t, arrowPatch), "@@ -0,0 +1,99 @@\n", "@@ -0,0 +1,100 @@\n"+added, 1)
	write(t, filepath.Join(dir, arrowPatch), changed)
	if out, err := makeArrow(dir); err != nil || !strings.HasPrefix(made("parquet/compress/exactly.go"), added[1:]) {
		t.Fatalf("a changed patch did not change the copy: %v %s", err, out)
	}

	for path, change := range map[string][2]string{
		arrowPatch:  {"\n-\t", "\n-not\t"},
		arrowScript: {"digest=h1:60", "digest=h1:61"},
	} {
		good := read(t, filepath.Join(dir, path))
		write(t, filepath.Join(dir, path), strings.Replace(good, change[0], change[1], 1))
		before := made("made-from")
		if out, err := makeArrow(dir); err == nil || strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, "arrow: ") {
			t.Errorf("with another %s: %v, and not a sentence that begins with arrow: %q", path, err, out)
		}
		if made("made-from") != before {
			t.Errorf("with another %s the copy was replaced", path)
		}
		write(t, filepath.Join(dir, path), good)
	}
}

// makeArrow runs the script of a folder without the network.
func makeArrow(dir string) (string, error) {
	cmd := exec.Command(filepath.Join(dir, arrowScript))
	cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o777); err != nil {
		t.Fatal(err)
	}
}
