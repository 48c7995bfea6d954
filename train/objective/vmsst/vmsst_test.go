package vmsst

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/train/device"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/objective/objectivetest"
)

const small = "heads: 2, ffn: 5, language_layers: 1}"

// TestDecoderSeesNothingButTheLatents: other tokens of the encoder change nothing while the latent variables stay, and
// without the weights of the latent variables no gradient reaches the sentence vectors.
func TestDecoderSeesNothingButTheLatents(t *testing.T) {
	all := objectivetest.Read[golden](t)
	backend, err := device.Open("go", "")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	other := map[string][]float32{}
	for _, name := range []string{"tokens0", "tokens1"} {
		other[name] = make([]float32, len(all.Tensors[name].Data))
	}
	translation := all.build(t, "{name: bitranslation, "+small)
	before, reached := all.run(t, backend, translation, nil)
	if after, _ := all.run(t, backend, translation, other); !slices.Equal(before, after) {
		t.Errorf("the loss is %v, and %v with other tokens", before, after)
	}
	// The average of a sentence's tokens makes the variances, so their order must not matter.
	turned := map[string][]float32{}
	for side, name := range []string{"tokens0", "tokens1"} {
		turned[name] = slices.Clone(all.Tensors[name].Data)
		for i, ids := range all.IDs[side] {
			first := turned[name][i*all.Length*all.Width:]
			last := first[(len(ids)-1)*all.Width:]
			for k := range all.Width {
				first[k], last[k] = last[k], first[k]
			}
		}
	}
	v := all.build(t, "{name: vmsst, "+small)
	before, _ = all.run(t, backend, v, nil)
	after, _ := all.run(t, backend, v, turned)
	for i := range before {
		if math.Abs(float64(before[i]-after[i])) > 1e-5*math.Abs(float64(before[i])) {
			t.Errorf("value %d is %v, and %v with the tokens in another order", i, before[i], after[i])
		}
	}
	// Without W of the layers and the latent part of the output, the vectors must have no way to the loss.
	words := slices.Clone(all.Tensors[decoderWords].Data)
	for row := range all.Vocabulary {
		clear(words[row*(2*all.Width+all.Dim)+all.Width : (row+1)*(2*all.Width+all.Dim)])
	}
	_, cut := all.run(t, backend, translation, map[string][]float32{decoderWords: words,
		"heads.decoder.0.latent.weight": make([]float32, (all.Dim+all.Width)*all.Width)})
	for _, name := range []string{"source", "target"} {
		if slices.Max(reached[name]) < 1e-3 || slices.Max(cut[name]) != 0 || slices.Min(cut[name]) != 0 {
			t.Errorf("the gradient by the vectors of the %s is %v, and %v without the latents' weights", name, reached[name], cut[name])
		}
	}
}

// TestPartsOfVMSST: the shape of its layers, and how new tables are drawn.
func TestPartsOfVMSST(t *testing.T) {
	v := objectivetest.Read[golden](t).build(t, "{name: vmsst, "+small)
	want := layers.Shape{Heads: 2, Width: 4, FFN: 5, Norm: layers.PreNorm, Activation: layers.ReLU, Epsilon: 1e-6, Precision: layers.Float32}
	if v.shape() != want {
		t.Errorf("the layers are %+v, want %+v", v.shape(), want)
	}
	tables := 0
	for _, spec := range v.Heads() {
		if strings.HasSuffix(spec.Name, "positions") || strings.HasSuffix(spec.Name, "languages") || strings.HasSuffix(spec.Name, "words") {
			if tables++; spec.Scale != 0.02 || spec.NoDecay {
				t.Errorf("%+v, want a deviation of 0.02", spec)
			}
		}
	}
	if tables != 5 {
		t.Errorf("%d tables, want 5", tables)
	}
}

// TestDrawsOfAStep: the seed and the step determine them, and the side of the semantic variable alternates.
func TestDrawsOfAStep(t *testing.T) {
	all := objectivetest.Read[golden](t)
	v, b := all.build(t, "{name: vmsst, "+small), all.batch()
	d := v.draw(b)
	if !reflect.DeepEqual(d, v.draw(b)) {
		t.Error("the same step draws other numbers the second time")
	}
	if want := []float32{0, 1, 0}; !slices.Equal(d.pick, want) {
		t.Errorf("the semantic variables are of the sides %v, want %v", d.pick, want)
	}
	if len(d.semantic) != all.N*all.Dim || len(d.language) != 2*all.N*all.Width || d.semantic[0] == d.language[0] {
		t.Errorf("the noise is %v and %v", d.semantic, d.language)
	}
	b.Step++
	next := v.draw(b)
	if want := []float32{1, 0, 1}; !slices.Equal(next.pick, want) || slices.Equal(next.semantic, d.semantic) {
		t.Errorf("the next step has the sides %v and the noise %v", next.pick, next.semantic)
	}
	if d := all.build(t, "{name: bitranslation, "+small).draw(b); d.semantic != nil {
		t.Error("a translation draws noise")
	}
	sum, squares := 0.0, 0.0
	b.Views[0].N = 20_000
	for _, x := range v.draw(b).semantic {
		sum += float64(x) / float64(20_000*all.Dim)
		squares += float64(x) * float64(x) / float64(20_000*all.Dim)
	}
	if math.Abs(sum) > 0.02 || math.Abs(squares-1) > 0.03 {
		t.Errorf("the noise has the mean %v and the variance %v", sum, squares)
	}
}

// TestInputsOfABatch: every token once with the one before it, and few sizes.
func TestInputsOfABatch(t *testing.T) {
	all := objectivetest.Read[golden](t)
	v, b := all.build(t, "{name: bitranslation, "+small), all.batch()
	inputs, err := v.Inputs(t.Context(), b, b.Views)
	if err != nil {
		t.Fatal(err)
	}
	if ids := inputs[0].Value().([][]int32); !reflect.DeepEqual(ids[:2], [][]int32{{1, 4, 5, 2}, {1, 3, 2, 0}}) {
		t.Errorf("the tokens are %v", ids)
	}
	if before := inputs[1].Value().([][]int32); !reflect.DeepEqual(before[:2], [][]int32{{0, 1, 4, 5}, {0, 1, 3, 0}}) {
		t.Errorf("the tokens before are %v", before)
	}
	if places := inputs[3].Value().([][]int64); len(places) != 18 || places[4][0] != 4 || places[7][0] != 8 {
		t.Errorf("the places are %v", places)
	}
	if shares := inputs[5].Value().([]float32); shares[0] != 1/float32(3) {
		t.Errorf("the shares are %v", shares)
	}
	big := objectivetest.Read[golden](t).build(t, "{name: bitranslation, "+small)
	wide := all.batch()
	for i := range wide.Views {
		s := &wide.Views[i]
		s.N, s.IDs, s.Languages = 32, make([]int32, 32*all.Length), make([]uint16, 32)
		s.Lengths = slices.Repeat([]int32{3}, 32)
	}
	inputs, err = big.Inputs(t.Context(), wide, wide.Views)
	if size := inputs[3].Shape().Size(); err != nil || size != 192 { // 192 tokens, a multiple of 16
		t.Errorf("%d tokens, %v", size, err)
	}
	wide.Views[0].Lengths[0] = 4
	inputs, err = big.Inputs(t.Context(), wide, wide.Views)
	if size := inputs[3].Shape().Size(); err != nil || size != 208 {
		t.Errorf("%d tokens, %v", size, err)
	}
	wide.Views[0].IDs[0] = int32(all.Vocabulary)
	if _, err := big.Inputs(t.Context(), wide, wide.Views); err == nil {
		t.Error("a token that is not in the vocabulary was taken")
	}
}

// TestInputsOfUnlikeSides: the first side may be the longer one, and one language encoder needs no table of encoders.
func TestInputsOfUnlikeSides(t *testing.T) {
	all := objectivetest.Read[golden](t)
	v, b := all.build(t, "{name: vmsst, language_encoders: 1, "+small), all.batch()
	want, err := v.Inputs(t.Context(), b, b.Views)
	if err != nil || len(want) != 9 {
		t.Fatalf("%d inputs, error %v; want six of tokens and three of noise", len(want), err)
	}
	short := &b.Views[1]
	var ids []int32
	for i, l := range short.Lengths {
		short.Lengths[i] = min(l, 3)
		ids = append(ids, short.IDs[i*all.Length:][:3]...)
	}
	short.Length, short.IDs = 3, ids
	got, err := v.Inputs(t.Context(), b, b.Views)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := got[0].Value().([][]int32), want[0].Value().([][]int32); !reflect.DeepEqual(a[:all.N], b[:all.N]) {
		t.Errorf("the first side's tokens are %v beside a shorter side, %v before", a, b)
	}
	for _, encoder := range (languages{v.base}).encoderOf() {
		if encoder != 0 {
			t.Errorf("of one language encoder, number %d is used", encoder)
		}
	}
	b.Views = append(b.Views, b.Views[0])
	if views, err := v.Views(b); err != nil || len(views) != 2 {
		t.Errorf("%d views of a batch of three, error %v", len(views), err)
	}
}

func TestSettingsAreRefused(t *testing.T) {
	for settings, want := range map[string]string{
		"translate: false, elbo_weight: 0, kl: false": "the objective has no term",
		"elbo_weight: -1":           "objective.elbo_weight is -1",
		"elbo_weight: 0":            "objective.kl is a part of the ELBO",
		"elbo_weight: 0, kl: false": "objective.kl_anneal is only for kl",
		"kl_anneal: -1":             "objective.kl_anneal is -1",
		"language_encoders: 17":     "objective.language_encoders is 17",
		"language_encoders: -1":     "objective.language_encoders is -1",
		"language_layers: 0":        "objective.language_layers is 0",
		"language_layers: 101":      "objective.language_layers is 101",
		"decoder_layers: 0":         "objective.decoder_layers is 0",
		"decoder_layers: 101":       "objective.decoder_layers is 101",
		"heads: 0":                  "objective.heads is 0",
		"ffn: 0":                    "objective.ffn is 0",
		"heads: 3":                  "objective.heads is 3, but the encoder's width 4 is not a multiple",
	} {
		s, err := objective.Default("vmsst").With(objectivetest.Parse(t, settings))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Build(objective.Training{Dim: 3, Width: 4, Vocabulary: 9, Longest: 5, Languages: []string{"en"}, Table: "table"})
		if !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", settings, err, want)
		}
	}
	for settings, taken := range map[string]objective.Needs{
		"translate: false, elbo_weight: 0.5": {Tokens: true, Table: true, Pairs: 1},
		"kl: false, language_encoders: 16, language_layers: 100, decoder_layers: 100, heads: 1, ffn: 1": {Tokens: true, Table: true, Pairs: 1},
		"language_encoders: 0, language_layers: 1, decoder_layers: 1, kl_anneal: 0, contrastive: true":  {Tokens: true, Table: true, Pairs: 2},
	} {
		s, err := objective.Default("vmsst").With(objectivetest.Parse(t, settings))
		if err == nil {
			err = s.Validate()
		}
		if err != nil || s.Needs() != taken {
			t.Errorf("%s: %+v, %v", settings, s.Needs(), err)
		}
	}
}
