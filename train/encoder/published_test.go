package encoder

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/traintest"
	"bitextmine/train/weights"
)

// golden is what testdata/published.py computed, in float64 and from the models' definitions.
type golden struct {
	Length  int         `json:"length"`
	IDs     []int32     `json:"ids"`
	Lengths []int32     `json:"lengths"`
	CLS     [][]float32 `json:"cls"`
	Mean    [][]float32 `json:"mean"`
	Max     [][]float32 `json:"max"`
}

func TestPublishedWeightsComputeTheSame(t *testing.T) {
	for _, model := range []string{"bert", "xlm-roberta"} {
		raw, err := os.ReadFile(filepath.Join("testdata", model, "vectors.json"))
		if err != nil {
			t.Fatal(err)
		}
		var want golden
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		for pooling, vectors := range map[Pooling][][]float32{CLS: want.CLS, Mean: want.Mean, Max: want.Max} {
			t.Run(fmt.Sprintf("%s, %s", model, pooling), func(t *testing.T) {
				s, tensors, err := readPublished(filepath.Join("testdata", model), pooling)
				if err != nil {
					t.Fatal(err)
				}
				tr, err := NewTransformer(s, open(t, "cpu"), tensors)
				if err != nil {
					t.Fatal(err)
				}
				got, err := tr.Forward(traintest.Limited(t), data.Side{N: len(want.Lengths), Length: want.Length, IDs: want.IDs, Lengths: want.Lengths}, 0)
				if err != nil {
					t.Fatal(err)
				}
				for i, x := range slices.Concat(vectors...) {
					if d := got[i] - x; !(d < 1e-5 && d > -1e-5) {
						t.Fatalf("number %d is %v instead of %v", i, got[i], x)
					}
				}
			})
		}
	}
}

// TestPublishedPooler: the vectors are tanh of the published dense layer over the golden CLS vectors, in float64.
func TestPublishedPooler(t *testing.T) {
	raw, err := os.ReadFile("testdata/bert/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var want golden
	if err := json.Unmarshal(raw, &want); err != nil {
		t.Fatal(err)
	}
	published, _, err := weights.ReadFile("testdata/bert/model.safetensors", poolerOf.MatchString)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string][]float32{}
	for _, w := range published {
		byName[w.Name] = w.Data
	}
	s, tensors, err := readPublished("testdata/bert", Pooler)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := NewTransformer(s, open(t, "cpu"), tensors)
	if err != nil {
		t.Fatal(err)
	}
	side := data.Side{N: len(want.Lengths), Length: want.Length, IDs: want.IDs, Lengths: want.Lengths}
	got, err := tr.Forward(traintest.Limited(t), side, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i, cls := range want.CLS {
		for o := range s.Width {
			sum := float64(byName["pooler.dense.bias"][o])
			for k, x := range cls {
				sum += float64(byName["pooler.dense.weight"][o*s.Width+k]) * float64(x)
			}
			if d := float64(got[i*s.Width+o]) - math.Tanh(sum); !(math.Abs(d) < 1e-5) {
				t.Fatalf("number %d of sentence %d is off by %v", o, i, d)
			}
		}
	}
	if _, _, err := readPublished("testdata/xlm-roberta", Pooler); !badinput.Is(err) || !strings.Contains(err.Error(), "pooler.weight is missing") {
		t.Errorf("weights without a pooler gave %v", err)
	}
}

func TestUnfitPublishedModelsAreRefused(t *testing.T) {
	set := func(field, value string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, "config.json")
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var fields map[string]json.RawMessage
			if err := json.Unmarshal(raw, &fields); err != nil {
				t.Fatal(err)
			}
			fields[field] = json.RawMessage(value)
			if raw, err = json.Marshal(fields); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, raw, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	change := func(change func([]*weights.Tensor) []*weights.Tensor) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, weights.ModelName)
			all, _, err := weights.ReadFile(path, func(name string) bool { return !leftOut.MatchString(name) })
			if err != nil {
				t.Fatal(err)
			}
			if err := weights.WriteFile(path, change(all), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	remove := func(name string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	without := func(all []*weights.Tensor, name string) []*weights.Tensor {
		return slices.DeleteFunc(all, func(w *weights.Tensor) bool { return w.Name == name })
	}
	for _, c := range []struct {
		name, want string
		spoil      func(t *testing.T, dir string)
	}{
		{"no configuration", "config.json is missing", remove("config.json")},
		{"another model", `the model_type "t5"`, set("model_type", `"t5"`)},
		{"another activation", `the hidden_act "silu"`, set("hidden_act", `"silu"`)},
		{"relative positions", `position_embedding_type "relative_key"`, set("position_embedding_type", `"relative_key"`)},
		{"a decoder", "only encoders", set("is_decoder", "true")},
		{"heads that do not divide the width", "width is 16 but must be a multiple of heads, 3", set("num_attention_heads", "3")},
		{"fewer layers than tensors", "layers.1.attention.norm.bias has no place", set("num_hidden_layers", "1")},
		{"more layers than tensors", "layers.2.attention.query.weight is missing", set("num_hidden_layers", "3")},
		{"another vocabulary", "embeddings.words has the shape [40 16] instead of [41 16]", set("vocab_size", "41")},
		{"a tensor too few", "layers.0.ffn.in.bias is missing", change(func(all []*weights.Tensor) []*weights.Tensor {
			return without(all, "encoder.layer.0.intermediate.dense.bias")
		})},
		{"a tensor too many", "1 tensors have no place in it, encoder.layer.0.adapter.weight the first", change(func(all []*weights.Tensor) []*weights.Tensor {
			return append(all, &weights.Tensor{Name: "encoder.layer.0.adapter.weight", Shape: []int{1}, Data: []float32{1}})
		})},
		{"a tensor with a NaN", "model.safetensors: encoder.layer.1.intermediate.dense.bias holds numbers that are infinite", change(func(all []*weights.Tensor) []*weights.Tensor {
			i := slices.IndexFunc(all, func(w *weights.Tensor) bool { return w.Name == "encoder.layer.1.intermediate.dense.bias" })
			all[i].Data[1] = float32(math.NaN())
			return all
		})},
		{"more layers than a memory holds", "config.json: the transformer's settings: layers is 1000000000 but must be from 1 to 1000", set("num_hidden_layers", "1000000000")},
		{"a negative width", "config.json: the transformer's settings: width is -8", set("hidden_size", "-8")},
		{"no weights", "convert the weights to safetensors", remove(weights.ModelName)},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("testdata/bert")); err != nil {
				t.Fatal(err)
			}
			c.spoil(t, dir)
			_, _, err := readPublished(dir, Mean)
			if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// TestShapeOfTheStart: the preset gets it, a setting that contradicts it is refused, and one that is the default is
// not.
func TestShapeOfTheStart(t *testing.T) {
	p := Preset{Config: Config{Kind: "transformer", Start: "testdata/bert", Transformer: DefaultSettings()}}
	if err := checkShape(p); err != nil {
		t.Fatal(err)
	}
	shape, err := ReadShape(p.Start)
	if err != nil {
		t.Fatal(err)
	}
	shaped, err := p.Shaped()
	if err != nil || shaped.Transformer.Width != shape.Width || shaped.Transformer.Layers != shape.Layers || shape.Width == DefaultSettings().Width {
		t.Errorf("width %d and %d layers, want %d and %d; error %v", shaped.Transformer.Width, shaped.Transformer.Layers, shape.Width, shape.Layers, err)
	}
	if !reflect.DeepEqual(shaped.Unshaped(), p.Config) {
		t.Errorf("without the start's shape: %+v", shaped.Unshaped())
	}
	p.Config = shaped
	if err := checkShape(p); err != nil {
		t.Error(err)
	}
	p.Transformer.Width++
	if err := checkShape(p); !badinput.Is(err) || !strings.Contains(err.Error(), "encoder.transformer.width is") {
		t.Errorf("error %v", err)
	}
}
