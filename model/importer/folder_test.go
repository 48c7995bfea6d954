package importer

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/train/traintest"
	"bitextmine/train/weights"
)

// golden is what train/encoder/testdata/published.py computed of a model's ids.
type golden struct {
	Length  int         `json:"length"`
	IDs     []int32     `json:"ids"`
	Lengths []int32     `json:"lengths"`
	CLS     [][]float32 `json:"cls"`
	Mean    [][]float32 `json:"mean"`
}

func (g golden) sentences() [][]int32 {
	var all [][]int32
	for i, n := range g.Lengths {
		all = append(all, g.IDs[i*g.Length:][:n])
	}
	return all
}

// published copies a model of train/encoder's tests and adds files to it.
func published(t *testing.T, name string, files map[string]string) (dir string, want golden) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "a-model")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(samples, name))); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	write(t, dir, files)
	return dir, want
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// vocabulary is a vocab.txt of 40 lines.
func vocabulary() string {
	lines := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	for len(lines) < 40 {
		lines = append(lines, fmt.Sprintf("w%d", len(lines)))
	}
	return strings.Join(lines, "\n") + "\n"
}

// inST are the files of sentence-transformers around a model.
func inST(mode, more string) map[string]string {
	return map[string]string{
		"vocab.txt":                 vocabulary(),
		"modules.json":              fmt.Sprintf(modulesJSON, more),
		"1_Pooling/config.json":     fmt.Sprintf(`{"word_embedding_dimension": 16, "pooling_mode_cls_token": %t, "pooling_mode_mean_tokens": %t, "pooling_mode_max_tokens": false}`, mode == "cls", mode == "mean"),
		"sentence_bert_config.json": `{"max_seq_length": 10, "do_lower_case": false}`,
		"tokenizer_config.json":     `{"do_lower_case": false, "strip_accents": null, "tokenizer_class": "BertTokenizer", "cls_token": "[CLS]", "sep_token": {"content": "[SEP]"}, "model_max_length": 512}`,
		"README.md":                 "---\nlicense: apache-2.0\nlanguage: [de, en, multilingual]\n---\n# A model\n",
	}
}

// dense writes 2_Dense, 16 to 3 with Tanh.
func dense(t *testing.T, dir string) (weight, bias []float32) {
	t.Helper()
	write(t, dir, map[string]string{"2_Dense/config.json": `{"in_features": 16, "out_features": 3, "bias": true, "activation_function": "torch.nn.modules.activation.Tanh"}`})
	for i := range 48 {
		weight = append(weight, float32(i%7)/5-0.6)
	}
	bias = []float32{0.1, -0.2, 0.3}
	err := weights.WriteFile(filepath.Join(dir, "2_Dense/model.safetensors"), []*weights.Tensor{
		{Name: "linear.weight", Shape: []int{3, 16}, Data: weight}, {Name: "linear.bias", Shape: []int{3}, Data: bias}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return weight, bias
}

// through computes the dense layer, in float64.
func through(vectors [][]float32, weight, bias []float32) [][]float32 {
	var all [][]float32
	for _, v := range vectors {
		out := make([]float32, len(bias))
		for o := range out {
			sum := float64(bias[o])
			for k, x := range v {
				sum += float64(weight[o*len(v)+k]) * float64(x)
			}
			out[o] = float32(math.Tanh(sum))
		}
		all = append(all, out)
	}
	return all
}

// agrees compares an encoder's vectors of ids with others, which need not have length 1.
func agrees(t *testing.T, dir string, sentences [][]int32, want [][]float32) {
	t.Helper()
	for i, got := range vectorsOf(t, dir, sentences) {
		vector := slices.Clone(want[i])
		if len(vector) != len(got) {
			t.Fatalf("the encoder has %d numbers, not %d", len(got), len(vector))
		}
		if err := encode.Unit(vector); err != nil {
			t.Fatal(err)
		}
		for k, x := range vector {
			if d := got[k] - x; !(d < 1e-5 && d > -1e-5) {
				t.Fatalf("number %d of sentence %d is %v instead of %v", k, i, got[k], x)
			}
		}
	}
}

// vectorsOf are an encoder's vectors of ids.
func vectorsOf(t *testing.T, dir string, sentences [][]int32) [][]float32 {
	t.Helper()
	e := traintest.Open(t, dir)
	got := make([]float32, len(sentences)*e.Dim())
	if err := e.EncodeIDs(t.Context(), sentences, got); err != nil {
		t.Fatal(err)
	}
	return slices.Collect(slices.Chunk(got, e.Dim()))
}

// says checks that a conclusion is reported with its file.
func says(t *testing.T, r *Result, field, value, from string) {
	t.Helper()
	for _, f := range r.Findings {
		if f.Field == field && strings.Contains(f.Value, value) && strings.Contains(f.From, from) {
			return
		}
	}
	t.Errorf("no conclusion of %s says %q from %q: %v", field, value, from, r.Findings)
}
