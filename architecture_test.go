package bitextmine

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"strings"
	"testing"
)

const module = "bitextmine"

// layers: a package may import packages of lower layers, and of its own folder.
var layers = map[string]int{
	"internal": 0, "fixtures": 0, "configs": 0,
	"corpus": 1, "encode": 1, "mine": 1,
	"index": 2, "filter": 2, "bitext": 2,
	"score": 3, "align": 3,
	"pipeline": 4, "curate": 4, "eval": 4,
	"web": 5, "train": 5, "distil": 5, "model": 5,
	"cmd": 6, "bench": 6, "deploy": 6,
}

// siblings are the imports within a layer that are allowed, each with its reason.
var siblings = map[[2]string]string{
	{"train", "distil"}: "a static encoder in training is a distilled student, and learns from a teacher's cached vectors",
	{"distil", "train"}: "a student's graph is written by what exports trained encoders",
	{"model", "train"}:  "an imported encoder becomes a graph by what exports trained encoders",
}

// exclusive modules may be imported by these folders alone.
var exclusive = map[string]struct{ folders, reason string }{
	"gocloud.dev/blob":                         {"pipeline/store", "stages must not know where outputs lie"},
	"github.com/yalue/onnxruntime_go":          {"encode", "everything else sees vectors, not sessions"},
	"github.com/DataIntelligenceCrew/go-faiss": {"index/faiss bench/search", "its panics and thread-local errors are contained there; the benchmark times it as users call it"},
	"github.com/blevesearch":                   {"bitext/concordance", "one place knows how text is searched"},
	"github.com/gomlx/gomlx":                   {"train", "the seam between training and mining is the ONNX file"},
	"github.com/gomlx/compute":                 {"train", "training alone has graphs of GoMLX"},
	"github.com/gomlx/compute-onnx":            {"train", "training alone has graphs of GoMLX"},
	"github.com/gomlx/go-xla":                  {"train internal/pjrt", "training runs programs on devices, which one place opens"},
	"github.com/apache/arrow/go/v15":           {"bitext corpus", "two file formats, each with one home"},
	"github.com/k2-fsa/sherpa-onnx-go-linux":   {"encode", "it only carries libonnxruntime"},
	"github.com/chromedp":                      {"web/browser", "a browser drives tests, never the program"},
	"github.com/spf13/viper":                   {"cmd", "settings reach packages as plain structs"},
	"github.com/spf13/cobra":                   {"cmd", "there is no command line below cmd"},
}

type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	var out []byte
	for _, dir := range []string{".", "bench"} { // the modules
		some, err := exec.Command("go", "-C", dir, "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./...").Output()
		if err != nil {
			t.Fatalf("go list in %s: %v", dir, err)
		}
		out = append(out, some...)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestImportsPointOneWay(t *testing.T) {
	for _, p := range packages(t) {
		from := strings.TrimPrefix(p.ImportPath, module+"/")
		if from == module {
			continue
		}
		layer, ok := layers[top(from)]
		if !ok {
			t.Errorf("%s is in no layer: the folders are fixed by the design", from)
		}
		for _, imported := range p.Imports {
			to, ours := strings.CutPrefix(imported, module+"/")
			switch {
			case !ours || top(from) == top(to):
			case layers[top(to)] > layer:
				t.Errorf("%s imports %s: imports point from cmd down to corpus, encode and mine", from, to)
			case siblings[[2]string{top(from), top(to)}] != "":
			case layers[top(to)] == layer && layer > 0:
				t.Errorf("%s imports its sibling %s: move what both need below them", from, to)
			}
		}
	}
}

func TestMineIsPure(t *testing.T) {
	for _, p := range packages(t) {
		if p.ImportPath != module+"/mine" {
			continue
		}
		for _, imported := range p.Imports {
			switch {
			case strings.HasPrefix(imported, module+"/"):
				t.Errorf("mine imports %s: margin mining knows nothing of the rest of the program", imported)
			case imported == "C", imported == "os", imported == "io", imported == "net", imported == "unsafe":
				t.Errorf("mine imports %s: it does no I/O and calls no C, so that its results depend on its arguments alone", imported)
			}
		}
	}
}

func TestModulesStayInTheirPlace(t *testing.T) {
	for _, p := range packages(t) {
		from := strings.TrimPrefix(p.ImportPath, module+"/")
		for _, imported := range p.Imports {
			for name, rule := range exclusive {
				if (imported == name || strings.HasPrefix(imported, name+"/")) && !within(from, rule.folders) {
					t.Errorf("%s imports %s, which only %s may: %s", from, imported, rule.folders, rule.reason)
				}
			}
		}
	}
}

func within(pkg, folders string) bool {
	for _, folder := range strings.Fields(folders) {
		if pkg == folder || strings.HasPrefix(pkg, folder+"/") {
			return true
		}
	}
	return false
}

func top(pkg string) string { return strings.Split(pkg, "/")[0] }
