package objective_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// objectives is the folder of the packages that are mutated.
const objectives = "train/objective"

// equivalent are mutants that change nothing that a test could see, each with its reason, by their text.
var equivalent = map[string]string{
	"train/objective/vmsst/inputs.go: 0 -> (0+1) in: n := views[0].N":                                                                                                     "both sides have as many sentences",
	"train/objective/vmsst/language.go: 1 -> (1+1) in: x = graph.Mul(x, graph.Reshape(layers.Rows(in.encoders, e, e+1, 1), n, 1)) // 0 for other encoders' languages":     "a step of 2 takes the same one row; that of e+1 is noticed",
	"train/objective/imascl/anchor.go: < -> <= in: return x < y":                                                                                                          "the two are not equal there",
	"train/objective/mexma/mexma.go: graph.StopGradient -> graph.Identity in: away := graph.Sub(x, graph.Gather(x, graph.Reshape(graph.StopGradient(nearest(x)), n, 1)))": "an index has no gradient",
	"train/objective/mexma/mexma.go: 4 -> (4+1) in: const own = 4 // above the difference of any two products":                                                            "any number above 2 does",
	"train/objective.go: 1e-12 -> (2*1e-12) in: const tiny = 1e-12":                                                                                                       "it matters to a zero vector alone, whose cosine is 0 either way",
	"train/objective/mexma/masking.go: == -> != in: case draw == 8:":                                                                                                      "it names the other of two equally likely draws",
	"train/objective/mexma/mexma.go: 0 -> (0+1) in: n, length, count := views[0].N, 0, 0":                                                                                 "every view has a length of at least 1; that of count is noticed",
	"train/objective/mexma/masking.go: 8 -> (8+1) in: case draw == 8:":                                                                                                    "it names the other of two equally likely draws",
	"train/objective/mexma/masking.go: == -> != in: if rng.IntN(2) == 1 {":                                                                                                "it names the other of two equally likely draws",
	"train/objective.go: - ->  in: squares := graph.ReduceAndKeep(graph.Mul(x, x), graph.ReduceSum, -1)":                                                                  "the last axis of a matrix is axis 1",
}

// TestMutantsAreCaught changes every constant and sign of the packages or files of ./train/objective that MUTATE names,
// one at a time, and wants their tests to fail. It takes minutes, so go test alone skips it: make mutate.
//
// All mutants are compiled into the test binaries at once, each behind a condition, and an environment variable chooses
// one. Only a constant declaration needs binaries of its own. Those that were caught are listed in the file
// MUTATE_JOURNAL, if there is one, and not run again until their file changes.
func TestMutantsAreCaught(t *testing.T) {
	named := strings.Fields(os.Getenv("MUTATE"))
	if len(named) == 0 {
		t.Skip("MUTATE names no folder")
	}
	t.Chdir("../..") // paths are relative to the root of the repository
	mutants, files := mutantsOf(t, func(path string) bool {
		return slices.Contains(named, filepath.Dir(path)) || slices.Contains(named, path)
	})
	journal := openJournal(t, os.Getenv("MUTATE_JOURNAL"))
	all := newBinaries(t, files)
	count := map[string]int{}
	for i, m := range mutants {
		switch {
		case equivalent[m.String()] != "":
			count["equivalent"]++
		case journal.has(m):
			count["caught"]++
		case !m.survives(t, all):
			count["caught"]++
			journal.add(t, m)
		default:
			count["survived"]++
			t.Errorf("survived: %s", m)
		}
		if i%50 == 49 {
			t.Logf("%d of %d mutants: %v", i+1, len(mutants), count)
		}
	}
	t.Logf("%d mutants: %v", len(mutants), count)
}

// survives reports whether all tests pass with a mutant. all has every mutant but those of constant declarations.
func (m mutant) survives(t *testing.T, all *binaries) bool {
	t.Helper()
	if m.constant {
		all = newBinaries(t, map[string][]byte{m.path: []byte(m.source[:m.from] + m.new + m.source[m.to:])})
		defer all.remove(t)
	}
	own := filepath.Dir(m.path)
	others := slices.DeleteFunc(folders(t), func(f string) bool { return f == own || f == objectives })
	order := append([]string{own, objectives}, others...)
	for i, folder := range order { // the first two notice most mutants
		if slices.Contains(order[:i], folder) || !slices.Contains(importedBy(t, folder), "bitextmine/"+own) {
			continue
		}
		binary, tested := all.of(t, folder)
		if tested && !m.constant && !all.checked[folder] {
			if out, err := runTests(t, folder, binary, 0); err != nil {
				t.Fatalf("the tests of %s fail without a mutant: %v\n%s", folder, err, out)
			}
			all.checked[folder] = true
		}
		if !tested {
			continue
		}
		if out, err := runTests(t, folder, binary, m.id); err != nil {
			if bytes.Contains(out, []byte("not done after")) {
				t.Logf("stopped by the clock: %s", m)
			}
			return false
		}
	}
	return true
}

// imports are the packages that the tests of a folder contain.
var imports = map[string][]string{}

func importedBy(t *testing.T, folder string) []string {
	t.Helper()
	if imports[folder] == nil {
		out, err := exec.Command("go", "list", "-test", "-deps", "-f", "{{.ImportPath}}", "./"+folder).Output()
		if err != nil {
			t.Fatal(err)
		}
		imports[folder] = strings.Fields(string(out))
	}
	return imports[folder]
}

// runTests runs the tests of a folder with a mutant. The limit is one of processor time, so that a busy machine does
// not seem to catch a mutant.
func runTests(t *testing.T, folder, binary string, mutant int) (out []byte, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -t 300; exec "$0" -test.failfast -test.timeout=1h`, binary)
	// Without MUTATE, so that the tests of train/objective skip this one.
	cmd.Dir, cmd.Env = folder, append(os.Environ(), "MUTATE=", fmt.Sprintf("%s=%d", mutantEnv, mutant))
	return cmd.CombinedOutput()
}

// journal is the mutants that earlier runs caught.
type journal struct {
	path   string
	caught map[string]bool
}

func openJournal(t *testing.T, path string) journal {
	t.Helper()
	j := journal{path, map[string]bool{}}
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		j.caught[strings.TrimSpace(line)] = true
	}
	return j
}

// key identifies a mutant of a file of this content.
func (j journal) key(m mutant) string {
	return fmt.Sprintf("%x %s:%d %q", sha256.Sum256([]byte(m.source)), m.path, m.from, m.new)
}

func (j journal) has(m mutant) bool { return j.caught[j.key(m)] }

func (j journal) add(t *testing.T, m mutant) {
	t.Helper()
	if j.path == "" {
		return
	}
	f, err := os.OpenFile(j.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, j.key(m))
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// binaries are the compiled tests of the objectives, with the content of some files replaced.
type binaries struct {
	dir      string
	compiled map[string]bool // folders that were compiled
	checked  map[string]bool // folders whose tests pass without a mutant
}

func newBinaries(t *testing.T, files map[string][]byte) *binaries {
	t.Helper()
	b := &binaries{dir: t.TempDir(), compiled: map[string]bool{}, checked: map[string]bool{}}
	overlay := map[string]string{}
	for path, content := range files {
		full, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		overlay[full] = filepath.Join(b.dir, strings.ReplaceAll(path, "/", "_"))
		if err := os.WriteFile(overlay[full], content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	raw, err := json.Marshal(map[string]map[string]string{"Replace": overlay})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "overlay.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

// of returns the tests of a folder, compiled when they are first needed, and false if it has none.
func (b *binaries) of(t *testing.T, folder string) (binary string, tested bool) {
	t.Helper()
	if tests, err := filepath.Glob(filepath.Join(folder, "*_test.go")); err != nil || len(tests) == 0 {
		return "", false
	}
	binary = filepath.Join(b.dir, filepath.Base(folder)+".test")
	if !b.compiled[folder] {
		args := []string{
			"test", "-c", "-vet=off", "-ldflags=-s -w", "-overlay", filepath.Join(b.dir, "overlay.json"), "-o", binary, "./" + folder,
		}
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		b.compiled[folder] = true
	}
	return binary, true
}

func (b *binaries) remove(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(b.dir); err != nil {
		t.Fatal(err)
	}
}

// folders are those of the objectives' packages.
func folders(t *testing.T) (all []string) {
	t.Helper()
	err := filepath.WalkDir(objectives, func(path string, _ fs.DirEntry, err error) error {
		if dir := filepath.Dir(path); filepath.Ext(path) == ".go" && !slices.Contains(all, dir) {
			all = append(all, dir)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}
