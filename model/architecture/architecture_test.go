package architecture

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/train/export"
	"bitextmine/train/traintest"
	"bitextmine/train/weights"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

// golden is what testdata/make.py wrote: a small model's configuration and the shapes of its tensors, and what its
// authors' program computes of sentences, the mean and the last of their tokens' vectors.
type golden struct {
	Config    json.RawMessage  `json:"config"`
	Tensors   map[string][]int `json:"tensors"`
	Sentences [][]int32        `json:"sentences"`
	Vectors   [][2][]float32   `json:"vectors"`
}

// values are the weights of a tensor, which follow from its name as testdata/make.py has it.
func values(name string, shape []int) []float32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	n := 1
	for _, d := range shape {
		n *= d
	}
	all := make([]float32, n)
	for i := range all {
		x := h.Sum32() + uint32(i)*0x9E3779B1
		x = (x ^ x>>16) * 0x85EBCA6B
		x = (x ^ x>>13) * 0xC2B2AE35
		u := float64((x^x>>16)>>8)/(1<<23) - 1
		switch {
		case len(shape) > 1:
			u *= 0.5
		case strings.Contains(name, "bias"):
			u *= 0.3
		default:
			u = 0.7 + u*0.4
		}
		all[i] = float32(u)
	}
	return all
}

// sample writes the model of a golden file into a new directory; changed may change its tensors and configuration.
func sample(t *testing.T, name string, changed func(config map[string]any, tensors map[string]*weights.Tensor)) (string, golden) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(raw, &g); err != nil {
		t.Fatal(err)
	}
	config, tensors := map[string]any{}, map[string]*weights.Tensor{}
	if err := json.Unmarshal(g.Config, &config); err != nil {
		t.Fatal(err)
	}
	for name, shape := range g.Tensors {
		tensors[name] = &weights.Tensor{Name: name, Shape: shape, Data: values(name, shape)}
	}
	if changed != nil {
		changed(config, tensors)
	}
	dir := t.TempDir()
	if raw, err = json.Marshal(config); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.json"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	var all []*weights.Tensor
	for _, tensor := range tensors {
		all = append(all, tensor)
	}
	if err := weights.WriteFile(filepath.Join(dir, weights.ModelName), all, nil); err != nil {
		t.Fatal(err)
	}
	return dir, g
}

// build writes the graph of a model into its directory, with a head, and describes it as an encoder.
func build(dir string, limit int, head export.Head) (width int, err error) {
	e, err := Open(dir)
	if err != nil {
		return 0, err
	}
	defer func() { _ = e.Close() }() // it is only read
	g := export.NewGraph("sample")
	g.Limit = limit
	if err := e.Write(g, false); err != nil {
		return 0, err
	}
	output, width := g.Head(export.Tokens, head, e.Width, export.Opset)
	external, err := g.Write(dir, "model.onnx")
	if err != nil {
		return 0, err
	}
	manifest := fmt.Sprintf("name: sample\nonnx: model.onnx\nexternal_data: [%s]\ntokenizer: {kind: wordpiece, file: vocab.txt, bos: \"[CLS]\", eos: \"[SEP]\"}\nmax_tokens: %d\n"+
		"inputs: {ids: ids}\noutput: %s\npooling: none\nnormalise: false\ndim: %d\n", strings.Join(external, ", "), min(e.MaxTokens, 64), output, width)
	vocabulary := "[UNK]\n[CLS]\n[SEP]\n"
	for i := range 37 {
		vocabulary += fmt.Sprintf("w%d\n", i)
	}
	for name, text := range map[string]string{"model.yaml": manifest, "vocab.txt": vocabulary} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return 0, err
		}
	}
	return width, nil
}

// compare runs an encoder of ids and compares its vectors.
func compare(t *testing.T, dir string, sentences [][]int32, want [][]float32) {
	t.Helper()
	e := traintest.Open(t, dir)
	got := make([]float32, len(sentences)*e.Dim())
	if err := e.EncodeIDs(t.Context(), sentences, got); err != nil {
		t.Fatal(err)
	}
	for i, vector := range slices.Collect(slices.Chunk(got, e.Dim())) {
		traintest.Near(t, fmt.Sprintf("sentence %d", i), vector, want[i], 2e-5)
	}
}

// TestArchitectures: the graphs give what the authors' programs compute of the same weights, in one file or two.
func TestArchitectures(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 16 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for i, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			dir, g := sample(t, name, nil)
			if _, err := build(dir, []int{1 << 20, 100}[i%2], export.Head{Poolings: []string{"mean", "last"}}); err != nil {
				t.Fatal(err)
			}
			var want [][]float32
			for _, v := range g.Vectors {
				want = append(want, slices.Concat(v[0], v[1]))
			}
			compare(t, dir, g.Sentences, want)
		})
	}
}
