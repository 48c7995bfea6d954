package bitextmine

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

var testName = regexp.MustCompile(`^func ((?:Test|Fuzz)\w+)\(`)

// TestPromisesAreTested: the tests that SECURITY.md names exist, make attack runs them, and it names no others.
func TestPromisesAreTested(t *testing.T) {
	packages := map[string][]string{}
	for _, path := range tracked(t) {
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		for _, line := range readLines(t, path) {
			if name := testName.FindStringSubmatch(line); name != nil {
				packages[name[1]] = append(packages[name[1]], filepath.Dir(path))
			}
		}
	}
	attack, err := os.ReadFile("scripts/attack")
	if err != nil {
		t.Fatal(err)
	}
	words := append(wordsOf(string(attack), "tests"), wordsOf(string(attack), "built")...)
	pattern := regexp.MustCompile(strings.Join(words, "|"))
	attacked := func(dir string) bool { return isIn(wordsOf(string(attack), "packages"), dir) }
	for _, word := range words {
		named, runs := regexp.MustCompile(word), false
		for name, dirs := range packages {
			runs = runs || named.MatchString(name) && slices.ContainsFunc(dirs, attacked)
		}
		if !runs {
			t.Errorf("scripts/attack names %s, which no test of its packages has in its name", word)
		}
	}
	text, err := os.ReadFile("SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(string(text), -1) {
		if packages[name[1]] == nil {
			t.Errorf("SECURITY.md names %s, which does not exist", name[1])
		}
		for _, dir := range packages[name[1]] {
			if !pattern.MatchString(name[1]) || !attacked(dir) {
				t.Errorf("SECURITY.md names %s of %s, which scripts/attack does not run", name[1], dir)
			}
		}
	}
}

// isIn says whether a list of packages, as go test takes it, has a directory's.
func isIn(packages []string, dir string) bool {
	return slices.ContainsFunc(packages, func(p string) bool {
		root, all := strings.CutSuffix(p, "/...")
		return "./"+dir == root || all && strings.HasPrefix("./"+dir, root+"/")
	})
}

// goroutine is a line of code that starts one.
var goroutine = regexp.MustCompile(`^(?:[^/]|/[^/])*(?:\bgo func\(|\berrgroup\.|\.Go\()|^\s*go [\w.]+\(`)

// TestWhatStartsGoroutinesIsRaced: make race-short tests every package that starts goroutines, but train, whose tests
// need training's compiler.
func TestWhatStartsGoroutinesIsRaced(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(strings.ReplaceAll(string(makefile), "\\\n", ""), "\nCONCURRENT :=")
	list, _, _ = strings.Cut(list, "\n")
	raced, found := strings.Fields(list), 0
	for _, path := range tracked(t) {
		dir := filepath.Dir(path)
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasPrefix(path, "bench/") || dir == "train" {
			continue
		}
		if at := slices.IndexFunc(readLines(t, path), goroutine.MatchString); at >= 0 {
			found++
			if !isIn(raced, dir) {
				t.Errorf("%s:%d starts a goroutine: name ./%s in CONCURRENT of the Makefile", path, at+1, dir)
			}
		}
	}
	if found < len(raced) {
		t.Errorf("%d files were found to start goroutines, and %d packages are listed", found, len(raced))
	}
}

// wordsOf are the words of an array of a shell script, without its comments.
func wordsOf(script, array string) []string {
	_, rest, _ := strings.Cut(script, "\n"+array+"=(\n")
	body, _, _ := strings.Cut(rest, "\n)")
	body = regexp.MustCompile(`(?m)^\s*#.*$`).ReplaceAllString(body, "")
	return strings.Fields(strings.ReplaceAll(body, "'", ""))
}
