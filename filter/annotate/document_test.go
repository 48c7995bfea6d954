package annotate

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of annotations in docs/filters.md")

// TestDocument compares the table in docs/filters.md with the annotations.
func TestDocument(t *testing.T) {
	const path, begin, end = "../../docs/filters.md", "<!-- annotations -->\n", "<!-- end of annotations -->"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(data), begin)
	written, after, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatalf("%s has no place for the annotations", path)
	}
	var table strings.Builder
	table.WriteString("| column | type | range | meaning |\n| --- | --- | --- | --- |\n")
	for _, a := range All {
		limits := fmt.Sprintf("%v to %v", a.Low, a.High)
		switch {
		case a.Type == Name:
			limits = "a language code"
		case a.High >= unlimited:
			limits = fmt.Sprintf("from %v", a.Low)
		}
		fmt.Fprintf(&table, "| `%s` | %v | %s | %s |\n", a.Name, a.Type, limits, strings.ReplaceAll(a.Meaning, "|", `\|`))
	}
	if written == table.String() {
		return
	}
	if !*update {
		t.Fatalf("the table in %s is not that of the annotations; write it with go test ./filter/annotate -run TestDocument -update", path)
	}
	if err := os.WriteFile(path, []byte(before+begin+table.String()+end+after), 0o644); err != nil { //nolint:gosec // a document
		t.Fatal(err)
	}
}
