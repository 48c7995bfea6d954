package model

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExternal: files stand beside the graph, which may be in a folder of its own, and only those of the manifest.
func TestExternal(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "onnx"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"model.onnx.data", "other.data"} {
		if err := os.WriteFile(filepath.Join(dir, "onnx", name), []byte("weights"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := &Model{Manifest: Manifest{ONNX: "onnx/model.onnx", External: []string{"onnx/model.onnx.data", "onnx/gone.data"}}, directory: dir}
	x := m.OpenExternal()
	first, err := x.Open("model.onnx.data")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := x.Open("model.onnx.data"); err != nil || again != first {
		t.Errorf("the second time it is another file, %v", err)
	}
	if _, err := x.Open("other.data"); err == nil || !strings.Contains(err.Error(), "weights are in other.data, which external_data in "+filepath.Join(dir, FileName)) {
		t.Errorf("error %v", err)
	}
	if _, err := x.Open("gone.data"); !os.IsNotExist(err) {
		t.Errorf("error %v", err)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}
