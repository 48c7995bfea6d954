package bitextmine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxComment is the longest line, in characters, that a comment may stand on.
const maxComment = 120

// TestCommentsFitTheScreen: no line that is or has a comment is longer than maxComment characters, in Go, C, assembly,
// shell, YAML and make.
func TestCommentsFitTheScreen(t *testing.T) {
	for _, path := range tracked(t) {
		lines := readLines(t, path)
		commented := commentLines(path, lines)
		if strings.HasSuffix(path, ".go") {
			commented = goCommentLines(t, path)
		}
		for n, line := range lines {
			if length := utf8.RuneCountInString(line); commented[n+1] && length > maxComment {
				t.Errorf("%s:%d: a comment on a line of %d characters, more than %d", path, n+1, length, maxComment)
			}
		}
	}
}

// prepositions that no comment behind code begins with.
var prepositions = map[string]bool{}

func init() {
	for _, word := range strings.Fields(`of in at by from with without to for on as under over between beside before after
		through against into within across per since until than like among besides beyond`) {
		prepositions[word] = true
	}
}

// TestCommentsBehindCodeNameAThing: a comment behind code is a noun or a sentence and stands alone: it does not begin
// with a preposition. Those of tests may.
func TestCommentsBehindCodeNameAThing(t *testing.T) {
	for _, path := range tracked(t) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			continue
		}
		lines := readLines(t, path)
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, comment := range flatten(file.Comments) {
			at := files.Position(comment.Pos())
			first, _, _ := strings.Cut(strings.TrimPrefix(comment.Text, "// "), " ")
			behind := strings.TrimSpace(lines[at.Line-1][:at.Column-1]) != ""
			if behind && prepositions[first] {
				t.Errorf("%s: the comment begins with %q: say what it is, as a noun or a sentence", at, first)
			}
		}
	}
}

// goCommentLines returns the lines, from 1, that have a comment other than a directive of the toolchain, which cannot
// be broken.
func goCommentLines(t *testing.T, path string) map[int]bool {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	found := map[int]bool{}
	for _, comment := range flatten(file.Comments) {
		if strings.HasPrefix(comment.Text, "//go:") || strings.HasPrefix(comment.Text, "//nolint:") {
			continue
		}
		for n := files.Position(comment.Pos()).Line; n <= files.Position(comment.End()).Line; n++ {
			found[n] = true
		}
	}
	return found
}

func flatten(groups []*ast.CommentGroup) (comments []*ast.Comment) {
	for _, group := range groups {
		comments = append(comments, group.List...)
	}
	return comments
}

// commentLines returns the lines, from 1, that have a comment by the marks of the file's language; none for a language
// that it does not know.
func commentLines(path string, lines []string) map[int]bool {
	found := map[int]bool{}
	var marks []string
	switch ext := filepath.Ext(path); {
	case ext == ".c", ext == ".h", ext == ".cc", ext == ".cpp", ext == ".s":
		marks = []string{"//", "/*"}
	case ext == ".yaml", ext == ".yml", ext == ".sh", filepath.Base(path) == "Makefile":
		marks = []string{"# "}
	case len(lines) > 0 && strings.HasPrefix(lines[0], "#!") && strings.HasSuffix(lines[0], "sh"):
		marks = []string{"# "}
	}
	inside := false // a comment of several lines in C
	for n, line := range lines {
		for _, mark := range marks {
			if at := strings.Index(line, mark); at >= 0 {
				found[n+1] = true
				inside = inside || mark == "/*"
			}
		}
		if inside {
			found[n+1] = true
			inside = !strings.Contains(line, "*/")
		}
	}
	return found
}
