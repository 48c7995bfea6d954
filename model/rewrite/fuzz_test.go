package rewrite

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"bitextmine/encode/layers"
	"bitextmine/encode/matrix"
	"bitextmine/encode/onnxgraph"
)

// FuzzLayers: whatever a graph says, its layers are computed within their memory, or are not found.
func FuzzLayers(f *testing.F) {
	if !matrix.Supported() {
		f.Skip("this processor has no VNNI")
	}
	file := filepath.Join(f.TempDir(), "model.onnx")
	if _, _, err := products(deep(), "vectors", file, nil); err != nil {
		f.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, uint8(2), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, sentences, tokens uint8) {
		g, err := onnxgraph.Parse(data)
		if err != nil {
			return
		}
		for _, output := range []string{"vectors", "states"} {
			l := layers.Find(g, "ids", "mask", output)
			if l == nil || l.Columns > 1<<12 || l.Width > 1<<12 {
				continue
			}
			n, each := int(sentences%8+1), int(tokens%40+1)
			out := make([]float32, n*each*l.Width)
			if l.Pooled {
				out = out[:n*l.Width]
			}
			if l.Words != nil {
				l.Words.Look([]int64{int64(sentences), int64(tokens)}, make([]float32, 2*l.Words.Columns))
			}
			l.Run(&layers.Memory{}, slices.Repeat([]float32{0.5}, n*each*l.Columns), n, each, out)
		}
	})
}
