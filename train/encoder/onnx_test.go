package encoder

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/export"
	"bitextmine/train/layers"
	"bitextmine/train/traintest"
	"bitextmine/train/weights"
)

var exportVariants = map[string]func(*Settings){
	"post norm, learned, gelu, mean": func(*Settings) {},
	"pre norm, sinusoidal, tanh, max": func(s *Settings) {
		s.Norm, s.Positions, s.Activation, s.Pooling = layers.PreNorm, Sinusoidal, layers.GELUTanh, Max
	},
	"pooler, projection": func(s *Settings) { s.Pooling, s.Projection = Pooler, 5 },
	"offset, types, relu, cls": func(s *Settings) {
		s.PositionOffset, s.TokenTypes, s.Activation, s.Pooling = 2, 2, layers.ReLU, CLS
	},
}

// letters is a transformer over the letters of traintest.Letters.
func letters(t *testing.T, change func(*Settings)) *Transformer {
	t.Helper()
	s := Settings{Layers: 2, Heads: 2, Width: 8, FFN: 12, Norm: layers.PostNorm, Positions: Learned, MaxTokens: 8, Activation: layers.GELU,
		Epsilon: 1e-5, Pooling: Mean, Vocabulary: 6, Precision: layers.Float32}
	change(&s)
	var all []*weights.Tensor
	for _, spec := range s.Specs() {
		spec.Init, spec.Scale = weights.Normal, 0.6
		all = append(all, weights.New(spec, 5))
	}
	backend, err := device.Open("cpu", "")
	if err != nil {
		t.Fatal(err)
	}
	tr, err := NewTransformer(s, backend, all)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// texts are n sentences of letters, and the ids that its tokenizer gives them.
func texts(n, letters int) ([]string, data.Side) {
	side := data.Side{N: n, Length: letters + 1}
	var all []string
	for i := range n {
		side.Lengths = append(side.Lengths, int32(side.Length))
		side.IDs = append(side.IDs, 1)
		var words []string
		for p := range letters {
			letter := (i*i + 3*p + i*p) % 3 // never d
			words = append(words, string(rune('a'+letter)))
			side.IDs = append(side.IDs, int32(2+letter))
		}
		all = append(all, strings.Join(words, " "))
	}
	return all, side
}

// manifest is that of an exported transformer.
func manifest(tr *Transformer) string {
	return fmt.Sprintf("output: vectors\npooling: none\nnormalise: false\ndim: %d\ntokens: {output: tokens, dim: %d}\n", tr.Dim(), tr.Width)
}

func TestExportGivesTheTrainersVectors(t *testing.T) {
	for name, change := range exportVariants {
		t.Run(name, func(t *testing.T) {
			tr := letters(t, change)
			e := traintest.Letters(t, tr.Graph("letters"), "inputs: {ids: ids, mask: mask}\n"+manifest(tr))
			for _, shape := range [][2]int{{3, 2}, {5, 7}, {1, 1}} {
				sentences, side := texts(shape[0], shape[1])
				want, err := tr.Forward(t.Context(), side, 0)
				if err != nil {
					t.Fatal(err)
				}
				got := make([]float32, len(want))
				if err := e.Encode(t.Context(), "en", sentences, got); err != nil {
					t.Fatal(err)
				}
				near(t, fmt.Sprint("shape ", shape), got, unit(want, tr.Dim()))
			}
		})
	}
}

// Encoding never pads, but others who are given the graph do: here d is what fills a sentence up.
func TestExportedMaskHidesPadding(t *testing.T) {
	for name, change := range exportVariants {
		t.Run(name, func(t *testing.T) {
			g := export.NewGraph("padded")
			g.Input(export.IDs, export.Int64, "batch", "tokens")
			g.Initializer("d", nil, []int64{5})
			g.Node("Equal", []string{export.IDs, "d"}, []string{"padding"})
			g.Node("Not", []string{"padding"}, []string{"present"})
			g.Node("Cast", []string{"present"}, []string{export.Mask}, attr("to", int(export.Int64)))
			tr := letters(t, change)
			writeTransformer(g, tr)
			g.Output(export.Vectors, export.Float32, "batch", tr.Dim())
			g.Output(export.Tokens, export.Float32, "batch", "tokens", 8)
			e := traintest.Letters(t, g, "inputs: {ids: ids}\n"+manifest(tr))
			got := make([]float32, 2*tr.Dim())
			if err := e.Encode(t.Context(), "en", []string{"a c b", "a c b d d d"}, got); err != nil {
				t.Fatal(err)
			}
			near(t, "padded", got[tr.Dim():], got[:tr.Dim()])
		})
	}
}

// unit divides every row by its length.
func unit(x []float32, dim int) []float32 {
	out := make([]float32, len(x))
	for i := 0; i < len(x); i += dim {
		sum := 0.0
		for _, v := range x[i : i+dim] {
			sum += float64(v) * float64(v)
		}
		for j, v := range x[i : i+dim] {
			out[i+j] = float32(float64(v) / math.Sqrt(sum))
		}
	}
	return out
}

func near(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if d := math.Abs(float64(got[i] - want[i])); !(d < 1e-5) {
			t.Fatalf("%s: number %d is %v instead of %v", what, i, got[i], want[i])
		}
	}
}
