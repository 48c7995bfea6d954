package architecture

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
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
		"inputs: {ids: ids}\noutput: %s\npooling: none\nnormalise: false\ndim: %d\ntokens: {output: tokens, dim: %d}\n", strings.Join(external, ", "), min(e.MaxTokens, 64), output, width, e.Width)
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

// everyGolden runs a test of each golden file.
func everyGolden(t *testing.T, test func(t *testing.T, i int, name string)) {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) < 16 {
		t.Fatalf("%d golden files, %v", len(files), err)
	}
	for i, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) { test(t, i, name) })
	}
}

// TestArchitectures: the graphs give what the authors' programs compute of the same weights, in one file or two.
func TestArchitectures(t *testing.T) {
	everyGolden(t, func(t *testing.T, i int, name string) {
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

// TestBadModels: what does not fit is named in one sentence.
func TestBadModels(t *testing.T) {
	config := func(field string, value any) func(map[string]any, map[string]*weights.Tensor) {
		return func(c map[string]any, _ map[string]*weights.Tensor) { c[field] = value }
	}
	nan := float32(math.NaN())
	for _, c := range []struct {
		name, sample, says string
		changed            func(config map[string]any, tensors map[string]*weights.Tensor)
	}{
		{"an unknown architecture", "bert", `model_type "eurobert" (BertModel), which this program cannot build a graph of; it knows BERT, RoBERTa`, config("model_type", "eurobert")},
		{"code of its own", "qwen2", "asks to run code of the model's own (auto_map: modeling.Model)", config("auto_map", map[string]any{"AutoModel": "modeling.Model"})},
		{"heads that do not divide the width", "bert", "num_attention_heads is 3, which does not divide the width 16", config("num_attention_heads", 3)},
		{"heads that the weights do not have", "qwen3", "layers.0.self_attn.q_proj.weight has the shape [32 16] instead of [64 16]", config("num_attention_heads", 8)},
		{"shared heads that the weights do not have", "qwen3", "layers.0.self_attn.k_proj.weight has the shape [16 16] instead of [32 16]", config("num_key_value_heads", 4)},
		{"shared heads that do not divide the others", "qwen3", "num_key_value_heads is 3, which does not divide the 4 heads", config("num_key_value_heads", 3)},
		{"more layers than weights", "modernbert", "layer_types has 2 layers, but the model has 3", config("num_hidden_layers", 3)},
		{"fewer layers than weights", "bert", "encoder.layer.1.attention.output.LayerNorm.bias has no place in the model", config("num_hidden_layers", 1)},
		{"layers beyond all bounds", "bert", "num_hidden_layers is 1000000, but must be at most 1000", config("num_hidden_layers", 1000000)},
		{"another vocabulary", "gemma3-causal", "embed_tokens.weight has the shape [40 16] instead of [41 16]", config("vocab_size", 41)},
		{"a width that is no number", "t5", `d_model is "wide", which is not of its kind`, config("d_model", "wide")},
		{"no width", "llama", "hidden_size is null, but must be a whole number", config("hidden_size", nil)},
		{"too wide", "m2m100", "d_model is 1000000000000, but must be a whole number", config("d_model", 1e12)},
		{"an activation", "xlm-roberta", `hidden_act is "quick_gelu", but only gelu, `, config("hidden_act", "quick_gelu")},
		{"a scaling", "llama", `rope_scaling is of type "longrope", but only default`, config("rope_parameters", map[string]any{"rope_type": "longrope"})},
		{"a scaling without a factor", "llama", "rope_scaling has the factor 0", config("rope_parameters", map[string]any{"rope_type": "linear"})},
		{"a scaling of no length", "llama", "original_max_position_embeddings -1, but must have a positive one", config("rope_parameters", map[string]any{"rope_type": "yarn", "factor": 2, "original_max_position_embeddings": -1})},
		{"capped scores", "gemma3-causal", "attn_logit_softcapping is 50, which cannot be computed", config("attn_logit_softcapping", 50)},
		{"a decoder", "bert", "is_decoder is true, but only false can be computed", config("is_decoder", true)},
		{"no place is left", "xlm-roberta", "leaves no place after the first 2", config("max_position_embeddings", 2)},
		{"a tensor is missing", "mpnet", "encoder.relative_attention_bias.weight is missing", func(_ map[string]any, tensors map[string]*weights.Tensor) {
			delete(tensors, "encoder.relative_attention_bias.weight")
		}},
		{"a tensor too many", "distilbert", "adapter.weight has no place in the model", func(_ map[string]any, tensors map[string]*weights.Tensor) {
			tensors["adapter.weight"] = &weights.Tensor{Name: "adapter.weight", Shape: []int{1}, Data: []float32{1}}
		}},
		{"a number that is none", "gte", "holds numbers that are infinite, or nearly so, or none at all", func(_ map[string]any, tensors map[string]*weights.Tensor) {
			tensors["encoder.layer.0.mlp.down_proj.weight"].Data[5] = nan
		}},
		{"a number that is none in a table", "gemma3-causal", "embed_tokens.weight holds numbers that are infinite", func(_ map[string]any, tensors map[string]*weights.Tensor) {
			tensors["embed_tokens.weight"].Data[5] = nan
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, _ := sample(t, c.sample, c.changed)
			_, err := build(dir, 1<<20, export.Head{Poolings: []string{"mean"}})
			encodetest.Refused(t, err, c.says)
		})
	}
}

// TestMissingShard: the file that is missing is named.
func TestMissingShard(t *testing.T) {
	dir, _ := sample(t, "bert", nil)
	if err := os.Rename(filepath.Join(dir, weights.ModelName), filepath.Join(dir, "one.safetensors")); err != nil {
		t.Fatal(err)
	}
	index := `{"weight_map": {"embeddings.word_embeddings.weight": "one.safetensors", "pooler.dense.bias": "two.safetensors"}}`
	if err := os.WriteFile(filepath.Join(dir, weights.ModelName+".index.json"), []byte(index), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(dir)
	encodetest.Refused(t, err, "two.safetensors, which is missing: fetch that file, too")
}

// TestScaledPlaces: the frequencies of GTE's scaling, and of Gemma's layers that look nearby, which are never scaled.
func TestScaledPlaces(t *testing.T) {
	c := &config{values: map[string]json.RawMessage{"rope_scaling": []byte(`{"type": "ntk", "factor": 8}`)}}
	got := c.rope(everywhere, 20000, 64).frequencies
	for i, x := range got {
		want := math.Pow(160000, -float64(2*i)/64) / math.Pow(8, 2.0/64)
		if math.Abs(float64(x)-want) > 1e-6*want {
			t.Fatalf("frequency %d is %v instead of %v", i, x, want)
		}
	}
	dir, _ := sample(t, "gemma3-causal", func(c map[string]any, _ map[string]*weights.Tensor) {
		delete(c, "rope_parameters")
		c["rope_scaling"] = map[string]any{"rope_type": "linear", "factor": 8}
	})
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestScaledContext: the length that a model was trained on is found as Hugging Face finds it.
func TestScaledContext(t *testing.T) {
	frequencies := func(fields, scaling string) []float32 {
		t.Helper()
		c := &config{}
		if err := json.Unmarshal(fmt.Appendf(nil, `{"max_position_embeddings": 32768, %s"rope_parameters": %s}`, fields, scaling), &c.values); err != nil {
			t.Fatal(err)
		}
		r := c.rope(everywhere, 1e6, 128)
		if c.wrong != nil {
			t.Fatal(c.wrong)
		}
		return r.frequencies
	}
	for _, kind := range []string{`"rope_type": "yarn", "factor": 4`, `"rope_type": "llama3", "factor": 4, "low_freq_factor": 1, "high_freq_factor": 4`} {
		own := func(context int) string {
			return fmt.Sprintf(`{%s, "original_max_position_embeddings": %d}`, kind, context)
		}
		const above = `"original_max_position_embeddings": 4096, `
		whole, part := frequencies("", own(32768)), frequencies("", own(4096))
		if slices.Equal(whole, part) {
			t.Fatalf("%s: the length makes no difference", kind)
		}
		for _, c := range []struct {
			name, fields, scaling string
			want                  []float32
		}{
			{"missing", "", "{" + kind + "}", whole},
			{"the configuration's", above, "{" + kind + "}", part},
			{"both", above, own(32768), part},
			{"a set of several", above, `{"full_attention": ` + own(32768) + "}", whole},
			{"missing in a set of several", above, `{"full_attention": {` + kind + "}}", whole},
		} {
			if got := frequencies(c.fields, c.scaling); !slices.Equal(got, c.want) {
				t.Errorf("%s, %s: the frequencies are those of another length", kind, c.name)
			}
		}
	}
}

// FuzzConfig: no configuration makes Open fail otherwise than by an error.
func FuzzConfig(f *testing.F) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		var g golden
		if err := json.Unmarshal(raw, &g); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(g.Config))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c := &config{path: "config.json"}
		if json.Unmarshal(raw, &c.values) != nil {
			return
		}
		if a := find(c); a != nil {
			a.read(c)
		}
	})
}
