package objective_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutantEnv is the environment variable with the number of the mutant that a test binary runs.
const mutantEnv = "MINE_MUTANT"

// mutant is one small change of an expression that a test should notice.
type mutant struct {
	id           int
	path, source string
	from, to     int    // bytes of the file that are replaced
	old, new     string // the text at these bytes
	constant     bool   // it stands where Go wants a constant

	begin, end int    // the whole expression
	typ        string // its type
}

func (m mutant) String() string {
	begin, end := strings.LastIndexByte(m.source[:m.from], '\n')+1, m.from+strings.IndexByte(m.source[m.from:], '\n')
	return fmt.Sprintf("%s: %s -> %s in: %s", m.path, m.old, m.new, strings.TrimSpace(m.source[begin:end]))
}

// swaps are operators and functions of graphs, each with what takes its place.
var swaps = map[string]string{
	"+": "-", "-": "+", "*": "/", "/": "*", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&",
	"true": "false", "false": "true",
	"graph.Add": "graph.Sub", "graph.Sub": "graph.Add", "graph.Mul": "graph.Div", "graph.Div": "graph.Mul",
	"graph.MulScalar": "graph.AddScalar", "graph.AddScalar": "graph.MulScalar", "graph.OneMinus": "graph.Identity",
	"graph.ReduceMax": "graph.ReduceMin", "graph.Sqrt": "graph.Identity", "graph.Exp": "graph.Identity", "graph.Log": "graph.Identity",
	"graph.StopGradient": "graph.Identity", "graph.Tanh": "graph.Identity",
}

// mutantsOf are the mutants of the objectives' files that are chosen, and these files with all of them, each behind a
// condition.
func mutantsOf(t *testing.T, chosen func(path string) bool) (all []mutant, files map[string][]byte) {
	t.Helper()
	imports := importer.ForCompiler(token.NewFileSet(), "gc", exports(t))
	files = map[string][]byte{}
	for _, folder := range folders(t) {
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		paths = slices.DeleteFunc(paths, func(path string) bool { return strings.HasSuffix(path, "_test.go") })
		p := parse(t, paths, imports)
		before := len(all)
		for i, path := range paths {
			if !chosen(path) {
				continue
			}
			of := p.mutants(p.files[i], path, len(all))
			files[path] = []byte(render(p.sources[i], 0, len(p.sources[i]), of))
			all = append(all, of...)
		}
		if len(all) > before {
			text := "package %s\n\nimport (\n\"os\"\n\"strconv\"\n)\n\nvar mutantNumber, _ = strconv.Atoi(os.Getenv(%q))\n"
			files[filepath.Join(folder, "mutant_number.go")] = fmt.Appendf(nil, text, p.files[0].Name.Name, mutantEnv)
		}
	}
	return all, files
}

// exports opens what compiled packages export.
func exports(t *testing.T) importer.Lookup {
	t.Helper()
	out, err := exec.Command("go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", "./train/objective/...").Output()
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), " ")
		of[path] = file
	}
	return func(path string) (io.ReadCloser, error) { return os.Open(of[path]) }
}

// parsed is a package with the types of its expressions.
type parsed struct {
	set     *token.FileSet
	files   []*ast.File
	sources []string
	info    types.Info
	name    *types.Package
}

func parse(t *testing.T, paths []string, imports types.Importer) *parsed {
	t.Helper()
	p := &parsed{set: token.NewFileSet(), info: types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(p.set, path, source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		p.files, p.sources = append(p.files, file), append(p.sources, string(source))
	}
	var err error
	if p.name, err = (&types.Config{Importer: imports}).Check("bitextmine/"+filepath.Dir(paths[0]), p.set, p.files, &p.info); err != nil {
		t.Fatal(err)
	}
	return p
}

// pass gives the operands of a constant expression, which go/types leaves without a type, that of the expression.
func (p *parsed) pass(n ast.Node) {
	var operands []ast.Expr
	switch n := n.(type) {
	case *ast.UnaryExpr:
		operands = []ast.Expr{n.X}
	case *ast.ParenExpr:
		operands = []ast.Expr{n.X}
	case *ast.BinaryExpr:
		operands = []ast.Expr{n.X, n.Y}
	}
	for _, x := range operands {
		e := n.(ast.Expr)
		if of := p.info.Types[x]; of.Value != nil && p.info.Types[e].Value != nil && isUntyped(of.Type) {
			p.info.Types[x] = types.TypeAndValue{Type: p.typeOf(e), Value: of.Value}
		}
	}
}

func isUntyped(t types.Type) bool {
	basic, ok := t.(*types.Basic)
	return ok && basic.Info()&types.IsUntyped != 0
}

// typeOf is the type of an expression's value.
func (p *parsed) typeOf(e ast.Expr) types.Type { return types.Default(p.info.TypeOf(e)) }

// mutants are those of a file, outer expressions before what is in them: numbers raised by one or doubled, and swaps.
func (p *parsed) mutants(file *ast.File, path string, number int) (all []mutant) {
	source := p.sources[slices.Index(p.files, file)]
	at := func(pos token.Pos) int { return p.set.Position(pos).Offset }
	constant := token.NoPos // the end of the constant that the walk is in
	add := func(e ast.Expr, pos token.Pos, old, replacement string) {
		typ := p.typeOf(e)
		if basic, ok := typ.Underlying().(*types.Basic); ok && basic.Info()&types.IsString != 0 {
			return // only + is defined
		}
		number++
		all = append(all, mutant{id: number, path: path, source: source, from: at(pos), to: at(pos) + len(old), old: old, new: replacement,
			constant: e.Pos() < constant, begin: at(e.Pos()), end: at(e.End()),
			typ: types.TypeString(typ, func(other *types.Package) string {
				if other == p.name {
					return ""
				}
				return other.Name()
			})})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		p.pass(n)
		switch n := n.(type) {
		case *ast.GenDecl:
			if n.Tok == token.CONST {
				constant = n.End()
			}
		case *ast.ArrayType:
			if n.Len != nil {
				constant = max(constant, n.Len.End())
			}
		case *ast.BasicLit:
			switch n.Kind {
			case token.INT:
				add(n, n.Pos(), n.Value, "("+n.Value+"+1)")
			case token.FLOAT:
				add(n, n.Pos(), n.Value, "(2*"+n.Value+")")
			}
		case *ast.BinaryExpr:
			if other, ok := swaps[n.Op.String()]; ok {
				add(n, n.OpPos, n.Op.String(), other)
			}
		case *ast.AssignStmt:
			if n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN {
				text := source[at(n.Rhs[0].Pos()):at(n.Rhs[0].End())]
				add(n.Rhs[0], n.Rhs[0].Pos(), text, "-("+text+")")
			}
		case *ast.UnaryExpr:
			if n.Op == token.SUB || n.Op == token.NOT {
				add(n, n.OpPos, n.Op.String(), "")
			}
		case *ast.Ident:
			if n.Name == "true" || n.Name == "false" {
				add(n, n.Pos(), n.Name, swaps[n.Name])
			}
		case *ast.SelectorExpr:
			name := source[at(n.Pos()):at(n.End())]
			if other, ok := swaps[name]; ok {
				add(n, n.Pos(), name, other)
			}
		}
		return true
	})
	return all
}

// render is a part of a file in which every mutated expression is a function that returns it or, if its number is
// chosen, the mutant. The mutants stand in the order of a walk.
func render(source string, from, to int, mutants []mutant) string {
	var out bytes.Buffer
	for i := 0; i < len(mutants); {
		m := mutants[i]
		inner := i + 1
		for inner < len(mutants) && mutants[inner].begin < m.end {
			inner++
		}
		within := mutants[i+1 : inner]
		i = inner
		if m.constant || m.begin < from || m.end > to {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(within), func(w mutant) bool { return w.end > m.from })
		right := slices.DeleteFunc(slices.Clone(within), func(w mutant) bool { return w.begin < m.to })
		changed := render(source, m.begin, m.from, left) + m.new + render(source, m.to, m.end, right)
		fmt.Fprintf(&out, "%sfunc() %s { if mutantNumber == %d { return %s }; return %s }()",
			source[from:m.begin], m.typ, m.id, changed, render(source, m.begin, m.end, within))
		from = m.end
	}
	out.WriteString(source[from:to])
	return out.String()
}
