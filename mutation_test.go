package bitextmine

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// mutant is one small change of a file that a test should notice.
type mutant struct {
	path     string
	from, to int // bytes of the file that are replaced
	old, new string
	line     string // the line of the file, which identifies the mutant in a list
}

func (m mutant) String() string {
	return fmt.Sprintf("%s: %s -> %s in: %s", m.path, m.old, m.new, m.line)
}

// equivalent are mutants that change nothing that a test could see, each with its reason, by their text.
var equivalent = map[string]string{
	"train/objective/loss/loss.go: 1e-12 -> (2*1e-12) in: const tiny = 1e-12":                                      "it matters to a zero vector alone, whose cosine is 0 either way",
	"train/objective/mexma/masking.go: == -> != in: case draw == 8:":                                               "it names the other of two equally likely draws",
	"train/objective/mexma/mexma.go: 0 -> (0+1) in: n, length, count := views[0].N, 0, 0":                          "every view has a length of at least 1; that of count is noticed",
	"train/objective/mexma/masking.go: 8 -> (8+1) in: case draw == 8:":                                             "it names the other of two equally likely draws",
	"train/objective/mexma/masking.go: == -> != in: if rng.IntN(2) == 1 {":                                         "it names the other of two equally likely draws",
	"train/objective/loss/loss.go: - ->  in: squares := graph.ReduceAndKeep(graph.Mul(x, x), graph.ReduceSum, -1)": "the last axis of a matrix is axis 1",
}

// TestMutantsAreCaught changes every constant and sign of the folders or files that MUTATE names, one at a time, and
// wants the tests of ./train/objective/... to fail. It takes some seconds for each, so go test alone skips it: make
// mutate.
func TestMutantsAreCaught(t *testing.T) {
	folders := strings.Fields(os.Getenv("MUTATE"))
	if len(folders) == 0 {
		t.Skip("MUTATE names no folder")
	}
	var mutants []mutant
	for _, path := range own(t) {
		named := slices.Contains(folders, filepath.Dir(path)) || slices.Contains(folders, path)
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && named {
			mutants = append(mutants, mutantsOf(t, path)...)
		}
	}
	survivors, invalid, dir := 0, 0, t.TempDir()
	for i, m := range mutants {
		switch alive, compiles := m.survives(t, dir); {
		case !compiles:
			invalid++
		case alive && equivalent[m.String()] == "":
			survivors++
			t.Errorf("survived: %s", m)
		}
		if i%20 == 19 {
			t.Logf("%d of %d mutants, %d survived", i+1, len(mutants), survivors)
		}
	}
	t.Logf("%d mutants: %d survived, %d do not compile, %d are said to be equivalent", len(mutants), survivors, invalid, len(equivalent))
}

// survives reports whether the tests pass with the change, and whether it compiles.
func (m mutant) survives(t *testing.T, dir string) (alive, compiles bool) {
	t.Helper()
	source, err := os.ReadFile(m.path)
	if err != nil {
		t.Fatal(err)
	}
	changed := filepath.Join(dir, "mutant.go")
	text := string(source[:m.from]) + m.new + string(source[m.to:])
	full, err := filepath.Abs(m.path)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {full: changed}})
	if err != nil {
		t.Fatal(err)
	}
	replace := filepath.Join(dir, "overlay.json")
	for path, content := range map[string][]byte{changed: []byte(text), replace: overlay} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const patience = 2 * time.Minute
	// The first two notice most mutants.
	for _, tests := range []string{"./" + filepath.Dir(m.path), "./train/objective/systems", "./train/objective/..."} {
		args := []string{"test", "-vet=off", "-ldflags=-s -w", "-failfast", "-timeout", patience.String(), "-overlay", replace, tests}
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return false, !strings.Contains(string(out), "[build failed]")
		}
	}
	return true, true
}

// swaps are operators and functions of graphs, each with what takes its place.
var swaps = map[string]string{
	"+": "-", "-": "+", "*": "/", "/": "*", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
	"+=": "-=", "-=": "+=", "true": "false", "false": "true",
	"graph.Add": "graph.Sub", "graph.Sub": "graph.Add", "graph.Mul": "graph.Div", "graph.Div": "graph.Mul", "graph.MulScalar": "graph.AddScalar",
	"graph.AddScalar": "graph.MulScalar", "graph.OneMinus": "graph.Identity", "graph.ReduceMax": "graph.ReduceMin", "graph.Sqrt": "graph.Identity",
	"graph.Exp": "graph.Identity", "graph.Log": "graph.Identity", "graph.StopGradient": "graph.Identity", "graph.Tanh": "graph.Identity",
}

// mutantsOf are the mutants of a file: numbers raised by one or doubled, and swaps.
func mutantsOf(t *testing.T, path string) (all []mutant) {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	add := func(at token.Pos, old, replacement string) {
		from := files.Position(at).Offset
		begin, end := strings.LastIndexByte(string(source[:from]), '\n')+1, from+strings.IndexByte(string(source[from:]), '\n')
		all = append(all, mutant{path, from, from + len(old), old, replacement, strings.TrimSpace(string(source[begin:end]))})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			switch n.Kind {
			case token.INT:
				add(n.Pos(), n.Value, "("+n.Value+"+1)")
			case token.FLOAT:
				add(n.Pos(), n.Value, "(2*"+n.Value+")")
			}
		case *ast.BinaryExpr:
			if other, ok := swaps[n.Op.String()]; ok {
				add(n.OpPos, n.Op.String(), other)
			}
		case *ast.AssignStmt:
			if other, ok := swaps[n.Tok.String()]; ok {
				add(n.TokPos, n.Tok.String(), other)
			}
		case *ast.UnaryExpr:
			if n.Op == token.SUB || n.Op == token.NOT {
				add(n.OpPos, n.Op.String(), "")
			}
		case *ast.Ident:
			if n.Name == "true" || n.Name == "false" {
				add(n.Pos(), n.Name, swaps[n.Name])
			}
		case *ast.SelectorExpr:
			name := string(source[files.Position(n.Pos()).Offset:files.Position(n.End()).Offset])
			if other, ok := swaps[name]; ok {
				add(n.Pos(), name, other)
			}
		}
		return true
	})
	return all
}
