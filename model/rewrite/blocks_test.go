package rewrite

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/layers"
	"bitextmine/encode/matrix"
	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/model/architecture"
	"bitextmine/train/export"
	"bitextmine/train/weights"
)

// wideModel is the model of a golden file of package architecture, eight times as wide and with random weights.
func wideModel(t *testing.T, name string) (dir string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("../architecture/testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var golden struct {
		Config  map[string]any   `json:"config"`
		Tensors map[string][]int `json:"tensors"`
	}
	if err := json.Unmarshal(raw, &golden); err != nil {
		t.Fatal(err)
	}
	const times = 8
	for _, field := range []string{"hidden_size", "intermediate_size", "head_dim"} {
		if n, ok := golden.Config[field].(float64); ok {
			golden.Config[field] = times * n
		}
	}
	var tensors []*weights.Tensor
	for name, shape := range golden.Tensors {
		n, shape := 1, slices.Clone(shape)
		for i, d := range shape {
			if d != 40 && d != 1 { // the number of words, and of types
				shape[i] = times * d
			}
			n *= shape[i]
		}
		spread := 0.2
		if len(shape) > 1 {
			spread = 6 / math.Sqrt(float64(shape[1])) // numbers have a spread of 0.25
		}
		values := numbers(uint64(len(name)+n), n)
		for i := range values {
			if values[i] *= float32(spread); len(shape) == 1 && !strings.Contains(name, "bias") && !strings.HasPrefix(golden.Config["model_type"].(string), "gemma") {
				values[i]++
			}
		}
		tensors = append(tensors, &weights.Tensor{Name: name, Shape: shape, Data: values})
	}
	config, err := json.Marshal(golden.Config)
	if err != nil {
		t.Fatal(err)
	}
	dir = written(t, config, "")
	if err := os.WriteFile(filepath.Join(dir, "config.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := weights.WriteFile(filepath.Join(dir, weights.ModelName), tensors, nil); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBlocks: the program computes all layers of today's architectures itself, from the words to the tokens' vectors,
// as ONNX Runtime does.
func TestBlocks(t *testing.T) {
	if !matrix.Supported() {
		t.Skip("this processor has no VNNI")
	}
	for name, pooling := range map[string]string{"modernbert": "mean_sqrt_len", "gte": "cls", "gemma3-both-ways": "max", "qwen3": "last", "mistral": "weighted"} {
		t.Run(name, func(t *testing.T) {
			dir := wideModel(t, name)
			e, err := architecture.Open(dir)
			if err != nil {
				t.Fatal(err)
			}
			g := export.NewGraph(name)
			if err := e.Write(g, false); err != nil {
				t.Fatal(err)
			}
			output, _ := g.Head(export.Tokens, export.Head{Poolings: []string{pooling}}, e.Width, export.Opset)
			if _, err := g.Write(dir, "graph.onnx"); err != nil {
				t.Fatal(err)
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
			manifest := filepath.Join(dir, model.FileName)
			text, err := os.ReadFile(manifest)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.NewReplacer("output: vectors", "output: "+output, "dim: 16", "dim: 128", "{ids: ids}", "{ids: "+export.IDs+"}").Replace(string(text))
			if err := os.WriteFile(manifest, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(t.TempDir(), "int8")
			if _, err := Quantise(t.Context(), QuantiseOptions{Model: dir, Out: out}); err != nil {
				t.Fatal(err)
			}
			data, err := os.ReadFile(filepath.Join(out, "model.onnx"))
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := onnxgraph.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			l := layers.Find(parsed, export.IDs, "", output)
			if l == nil || l.Words == nil || l.Width != 128 || l.Pooled {
				t.Fatalf("the layers are %+v, want those from the words to the tokens' vectors", l)
			}
			if _, takes := parsed.Between(l.To, output); takes[export.IDs] {
				t.Errorf("the layers end at %s", l.To)
			}
			all := sentences(40)
			independent(t, dir, out, all, 0.98)
			ours, theirs := vectors(t, out, all, 1024), whole(t, out, all)
			for i := 0; i < len(ours); i += 128 {
				if c := cosine(ours[i:i+128], theirs[i:i+128]); !(c >= 0.9995) {
					t.Errorf("sentence %d of %d tokens: the cosine to ONNX Runtime's vector is %v", i/128, len(all[i/128]), c)
				}
			}
		})
	}
}
