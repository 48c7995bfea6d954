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
	maxMethods = 12
)

// large packages, each with its reason.
var large = map[string]string{
	"index/kernel": "one kernel in several instruction sets: they are read side by side",
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

// TestTypesStaySmall: a type with more than maxMethods methods says why in its doc comment, in the words "methods
// because".
func TestTypesStaySmall(t *testing.T) {
	methods, docs := map[string]int{}, map[string]string{}
	files := token.NewFileSet()
	for _, path := range tracked(t) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv != nil {
					methods[filepath.Dir(path)+"."+receiver(decl.Recv.List[0].Type)]++
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						name := filepath.Dir(path) + "." + spec.Name.Name
						docs[name] = decl.Doc.Text() + spec.Doc.Text()
						if contract, ok := spec.Type.(*ast.InterfaceType); ok {
							methods[name] = contract.Methods.NumFields()
						}
					}
				}
			}
		}
	}
	for name, n := range methods {
		if n > maxMethods && !strings.Contains(strings.Join(strings.Fields(docs[name]), " "), "methods because") {
			t.Errorf(`%s has %d methods, more than %d: split it, or say in its doc comment that it has so many "methods because ..."`, name, n, maxMethods)
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
