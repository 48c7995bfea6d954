package bitextmine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

const (
	maxLines   = 2500
	maxMethods = 20
)

// large packages, each with its reason.
var large = map[string]string{
	"model/importer": "every form in which models are published: its files share one draft and little else",
	"index/kernel":   "one kernel in several instruction sets: they are read side by side",
}

// TestPackagesStaySmall: the files of a package in its own folder, tests apart, have at most maxLines lines.
func TestPackagesStaySmall(t *testing.T) {
	lines := map[string]int{}
	for _, path := range tracked(t) {
		switch filepath.Ext(path) {
		case ".go", ".c", ".h", ".cc", ".cpp", ".s":
			if !strings.HasSuffix(path, "_test.go") {
				lines[filepath.Dir(path)] += len(readLines(t, path))
			}
		}
	}
	for dir, n := range lines {
		if _, ok := large[dir]; n > maxLines && !ok {
			t.Errorf("%s has %d lines, more than %d: give a part of it a package of its own", dir, n, maxLines)
		}
	}
}

// TestTypesStaySmall: a type has at most maxMethods methods.
func TestTypesStaySmall(t *testing.T) {
	methods := map[string]int{}
	files := token.NewFileSet()
	for _, path := range tracked(t) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv != nil {
					methods[filepath.Dir(path)+"."+receiver(n.Recv.List[0].Type)]++
				}
				return false
			case *ast.TypeSpec:
				if contract, ok := n.Type.(*ast.InterfaceType); ok {
					methods[filepath.Dir(path)+"."+n.Name.Name] = contract.Methods.NumFields()
				}
			}
			return true
		})
	}
	for name, n := range methods {
		if n > maxMethods {
			t.Errorf("%s has %d methods, more than %d: split it", name, n, maxMethods)
		}
	}
}

// receiver is the name of a method's type, without its pointer and type parameters.
func receiver(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return receiver(expr.X)
	case *ast.IndexExpr:
		return receiver(expr.X)
	case *ast.IndexListExpr:
		return receiver(expr.X)
	case *ast.Ident:
		return expr.Name
	}
	return ""
}
