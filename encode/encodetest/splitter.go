package encodetest

import (
	"embed"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"bitextmine/fixtures"
)

// sat/make.py writes both files.
//
//go:embed sat/model_optimized.onnx sat/golden.json
var sat embed.FS

// SplitterGolden is where sentences end by the splitter of Splitter.
func SplitterGolden() ([]byte, error) { return sat.ReadFile("sat/golden.json") }

// Splitter is a directory with a small splitter of SaT's interface; changed replaces files, or leaves one out that is
// nil.
func Splitter(t testing.TB, changed map[string][]byte) string {
	t.Helper()
	dir := t.TempDir()
	graph, err := sat.ReadFile("sat/model_optimized.onnx")
	if err != nil {
		t.Fatal(err)
	}
	pieces, err := fs.ReadFile(fixtures.Models, "models/"+fixtures.Bag+"/spm.model")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"model_optimized.onnx": graph, "sentencepiece.bpe.model": pieces} {
		if other, ok := changed[name]; ok {
			data = other
		}
		if data == nil {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
