package bitextmine

import (
	"bufio"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// tracked lists the repository's files that are in the working tree, by their names in it.
func tracked(t *testing.T) (paths []string) {
	t.Helper()
	out, err := exec.Command("git", "ls-files").Output()
	if err != nil {
		t.Skipf("which files are the repository's is known in a git checkout only: %v", err)
	}
	for path := range strings.Lines(string(out)) {
		path = strings.TrimSpace(path)
		if _, err := os.Lstat(path); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

func readLines(t *testing.T, path string) (lines []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	scan := bufio.NewScanner(f)
	for scan.Buffer(nil, 64<<20); scan.Scan(); {
		lines = append(lines, scan.Text())
	}
	if err := scan.Err(); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return lines
}

// TestPromisesAreTested: the tests that SECURITY.md names exist.
func TestPromisesAreTested(t *testing.T) {
	there := map[string]bool{}
	for _, path := range tracked(t) {
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, line := range readLines(t, path) {
			if name, found := strings.CutPrefix(line, "func Test"); found {
				there["Test"+strings.SplitN(name, "(", 2)[0]] = true
			}
		}
	}
	text, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(text), -1) {
		if !there[name[1]] {
			t.Errorf("SECURITY.md names %s, which does not exist", name[1])
		}
	}
}
