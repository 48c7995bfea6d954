package mexma

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/internal/badinput"
	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/objective/objectivetest"
	"bitextmine/train/weights"
)

// batch has n pairs of sentences of 0 to 9 words between 1 and 2; words are 3 to 8, and 0 is the mask.
func batch(n, step int) *data.Batch {
	b := &data.Batch{Step: step}
	for side, length := range []int{12, 11} {
		s := data.Side{N: n, Length: length, IDs: make([]int32, n*length)}
		for i := range n {
			words := (i + side) % 10
			ids := []int32{1}
			for k := range words {
				ids = append(ids, int32(3+(i+k+3*side)%6))
			}
			s.Lengths = append(s.Lengths, int32(copy(s.IDs[i*length:], append(ids, 2))))
		}
		b.Views = append(b.Views, s)
	}
	return b
}

// TestShareOfWordsIsMasked: in every sentence with words the share, at least one, never a special token; the batch is
// not changed, and the same step masks the same tokens.
func TestShareOfWordsIsMasked(t *testing.T) {
	all := objectivetest.Read[golden](t)
	for _, share := range []float64{0.2, 0.4, 0.9} {
		m := all.build(t, `{name: mexma, head_heads: 2}`)
		m.Masking = share
		b := batch(40, 5)
		views, err := m.Views(b)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(b, batch(40, 5)) || !reflect.DeepEqual(views[:2], b.Views) {
			t.Fatal("masking changed the clean sides")
		}
		again, err := m.Views(b)
		if err != nil || !reflect.DeepEqual(again, views) {
			t.Errorf("the same batch is masked otherwise the second time, or %v", err)
		}
		other, err := m.Views(batch(40, 6))
		if err != nil || reflect.DeepEqual(other[2], views[2]) {
			t.Errorf("another step masks the same tokens, or %v", err)
		}
		for side := range 2 {
			for i := range b.Views[side].N {
				m.checkMask(t, b.Views[side].Sentence(i), views[2+side].Sentence(i))
			}
		}
	}
}

func (m *mexma) checkMask(t *testing.T, clean, masked []int32) {
	t.Helper()
	words, changed := len(m.words.Places(clean)), 0
	for p, id := range clean {
		if masked[p] == id {
			continue
		}
		if changed++; masked[p] != m.Training.Mask || !m.words.Has(id) {
			t.Errorf("%v became %v", clean, masked)
		}
	}
	want := max(1, int(math.Round(m.Masking*float64(words))))
	if words == 0 {
		want = 0
	}
	if changed != want {
		t.Errorf("%d of %d words are masked, want %d", changed, words, want)
	}
}

// TestHiddenTokensAreTheInputs: of each masked token its place, what it was, and its share of the mean of its side; a
// batch with other masked tokens has inputs of the same size, or of one of few.
func TestHiddenTokensAreTheInputs(t *testing.T) {
	all := objectivetest.Read[golden](t)
	for _, settings := range []string{`{name: mexma, head_heads: 2}`, `{name: mexma, head_heads: 2, replacement: bert}`} {
		m := all.build(t, settings)
		sizes := map[int]bool{}
		for step := range 20 {
			b := batch(40, step)
			of := m.mask(b)
			inputs, err := m.Inputs(t.Context(), b, of.views)
			if err != nil {
				t.Fatal(err)
			}
			size := inputs[0].Shape().Size()
			sizes[size] = true
			places, ids, shares := inputs[0].Value().([][]int64), inputs[1].Value().([][]int64), inputs[2].Value().([]float32)
			sums, seen := [2]float64{}, map[int64]bool{}
			for k, share := range shares {
				if share == 0 {
					continue
				}
				side, row, place := places[k][0]/(40*12), places[k][0]/12%40, places[k][0]%12
				if seen[places[k][0]] || int64(b.Views[side].Sentence(int(row))[place]) != ids[k][0] {
					t.Fatalf("%s, step %d: the token at %d was not %d, or is there twice", settings, step, places[k][0], ids[k][0])
				}
				seen[places[k][0]] = true
				sums[side] += float64(share)
			}
			if math.Abs(sums[0]-1) > 1e-5 || math.Abs(sums[1]-1) > 1e-5 || size != objective.RoundUp(len(seen), 2*40*12) {
				t.Errorf("%s, step %d: %d masked tokens in %d rows, with shares %v", settings, step, len(seen), size, sums)
			}
		}
		if len(sizes) > 2 {
			t.Errorf("%d sizes of inputs", len(sizes))
		}
	}
}

// TestInputsAreNoLongerThanTheirTokens: a small batch is not rounded up.
func TestInputsAreNoLongerThanTheirTokens(t *testing.T) {
	if places := inputs(objectivetest.Read[golden](t).masked(2))[0]; places.Shape().Size() != 8 {
		t.Errorf("%v rows for 8 masked tokens", places.Shape())
	}
}

// TestReplacementOfBERT: of many masked tokens 80% are the mask, 10% a random word and 10% themselves.
func TestReplacementOfBERT(t *testing.T) {
	m := objectivetest.Read[golden](t).build(t, `{name: mexma, head_heads: 2, replacement: bert}`)
	counts := map[string]float64{}
	for step := range 100 {
		b := batch(40, step)
		of := m.mask(b)
		for side, h := range of.hidden {
			for k, id := range h.ids {
				switch now := of.views[2+side].Sentence(h.rows[k])[h.places[k]]; {
				case now == m.Training.Mask:
					counts["mask"]++
				case now == id:
					counts["same"]++
				case m.words.Has(now):
					counts["word"]++
				default:
					t.Fatalf("a masked token became the special token %d", now)
				}
				counts["all"]++
			}
		}
	}
	// One of six random words is the same.
	for what, want := range map[string]float64{"mask": 0.8, "same": 0.1 + 0.1/6, "word": 0.1 * 5 / 6} {
		if share := counts[what] / counts["all"]; math.Abs(share-want) > 0.01 {
			t.Errorf("%s: %.3f of %v masked tokens, want %.3f", what, share, counts["all"], want)
		}
	}
}

// TestOneSideIsMasked: without symmetry each pair has one clean and one masked sentence, and which is which is drawn.
func TestOneSideIsMasked(t *testing.T) {
	m := objectivetest.Read[golden](t).build(t, `{name: mexma, head_heads: 2, symmetric: false, alignment: none, koleo_weight: 0}`)
	b := batch(200, 1)
	views, err := m.Views(b)
	if err != nil || len(views) != 2 {
		t.Fatalf("%d views, %v", len(views), err)
	}
	of, swapped := m.mask(b), 0
	for k, row := range of.hidden[0].rows { // unmasked
		views[1].Sentence(row)[of.hidden[0].places[k]] = of.hidden[0].ids[k]
	}
	for i := range 200 {
		switch source, target := b.Views[0].Sentence(i), b.Views[1].Sentence(i); {
		case slices.Equal(views[0].Sentence(i), source) && slices.Equal(views[1].Sentence(i), target):
		case slices.Equal(views[0].Sentence(i), target) && slices.Equal(views[1].Sentence(i), source):
			swapped++
		default:
			t.Fatalf("pair %d became %v and %v", i, views[0].Sentence(i), views[1].Sentence(i))
		}
	}
	if swapped < 70 || swapped > 130 {
		t.Errorf("%d of 200 pairs are swapped", swapped)
	}
}

// TestEqualVectorsHaveAKoLeo: the distance of two equal sentences is 0, and the loss and its gradient stay numbers.
func TestEqualVectorsHaveAKoLeo(t *testing.T) {
	backend, err := device.Open("go", "")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	exec := graph.MustNewExec(backend, func(nodes []*graph.Node) []*graph.Node {
		value := koleo(nodes[0])
		return append([]*graph.Node{value}, graph.Gradient(value, nodes[0])...)
	})
	defer exec.Finalize()
	out, err := device.Call(exec, []*tensors.Tensor{tensors.FromFlatDataAndDimensions([]float32{3, 4, 3, 4}, 2, 2)})
	if err != nil {
		t.Fatal(err)
	}
	if want := -math.Log(1e-8); math.Abs(float64(out[0][0])-want) > 1e-4 || !slices.Equal(out[1], make([]float32, 4)) {
		t.Errorf("the loss is %v, want %v, and the gradient %v", out[0][0], want, out[1])
	}
}

// TestKoLeoOfParts: with koleo_batch the nearest is looked for among a part of the batch, the pairs of a GPU in the
// paper, and a batch that is no multiple is refused.
func TestKoLeoOfParts(t *testing.T) {
	backend, err := device.Open("go", "")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	m := objectivetest.Read[golden](t).build(t, "{name: mexma, head_heads: 2, koleo_batch: 2}")
	exec := graph.MustNewExec(backend, func(nodes []*graph.Node) []*graph.Node { return []*graph.Node{m.koleo(nodes[0])} })
	defer exec.Finalize()
	// the first and the third are nearest to each other, but the parts are (1, 0), (0, 1) and (0.8, 0.6), (0.6, -0.8)
	out, err := device.Call(exec, []*tensors.Tensor{tensors.FromFlatDataAndDimensions([]float32{1, 0, 0, 1, 0.8, 0.6, 0.6, -0.8}, 4, 2)})
	if want := -math.Log(2) / 2; err != nil || math.Abs(float64(out[0][0])-want) > 1e-6 {
		t.Errorf("%v, want %v, %v", out, want, err)
	}
	if _, err := m.Views(batch(3, 0)); !badinput.Is(err) || !strings.Contains(err.Error(), "not a multiple of objective.koleo_batch 2") {
		t.Errorf("a batch of three: %v", err)
	}
}

// TestHeadsOfMEXMA: the shape of the layers is that of BERT's, and the logits' bias begins at zero and does not decay.
func TestHeadsOfMEXMA(t *testing.T) {
	m := objectivetest.Read[golden](t).build(t, "{name: mexma, head_layers: 2, head_heads: 2}")
	want := layers.Shape{Heads: 2, Width: 4, FFN: 3072, Norm: layers.PostNorm, Activation: layers.GELU, Epsilon: 1e-12, Precision: layers.Float32}
	if m.shape() != want {
		t.Errorf("the layers are %+v, want %+v", m.shape(), want)
	}
	specs := m.Heads()
	if last := specs[len(specs)-1]; last.Name != headBias || !last.NoDecay || last.Init != weights.Zeros || len(specs) != 2*16+1 {
		t.Errorf("%d tensors, the last %+v", len(specs), last)
	}
}

// TestBatchOfOneIsRefused: a sentence has no neighbour there.
func TestBatchOfOneIsRefused(t *testing.T) {
	for settings, refused := range map[string]bool{"{name: mexma, head_heads: 2}": true, "{name: mexma, head_heads: 2, koleo_weight: 0}": false} {
		m := objectivetest.Read[golden](t).build(t, settings)
		if _, err := m.Views(batch(1, 0)); (err != nil) != refused {
			t.Errorf("%s: %v", settings, err)
		}
	}
}

func TestSettingsAreRefused(t *testing.T) {
	for settings, want := range map[string]string{
		"masking: 0":                            "objective.masking is 0 but must be above 0 and below 1",
		"masking: 1":                            "objective.masking is 1 but must be above 0 and below 1",
		"replacement: noise":                    `objective.replacement is "noise"`,
		"context: source":                       `objective.context is "source"`,
		"context: none, token_gradients: false": "objective.token_gradients is false, but with context: none",
		"alignment: cosine":                     `objective.alignment is "cosine"`,
		"symmetric: false, koleo_weight: 0":     `objective.alignment is "clean", which needs the clean sentences of both sides`,
		"symmetric: false, alignment: none":     "objective.koleo_weight is for the clean sentences of both sides",
		"align_weight: 0":                       "objective.align_weight is 0",
		"unmask_weight: 0":                      "objective.unmask_weight is 0",
		"koleo_weight: -1":                      "objective.koleo_weight is -1",
		"koleo_batch: 1":                        "objective.koleo_batch is 1",
		"temperature: 0.1":                      "objective.temperature is only for the contrastive alignment",
		"alignment: contrastive":                "objective.temperature is 0",
		"head_layers: 0":                        "objective.head_layers is 0",
		"head_layers: 101":                      "objective.head_layers is 101",
		"head_heads: 0":                         "objective.head_heads is 0",
		"head_ffn: 0":                           "objective.head_ffn is 0",
		"head_heads: 3":                         "objective.head_heads is 3, but the encoder's width 4 is not a multiple",
	} {
		s := objective.Default("mexma")
		s, err := s.With(objectivetest.Parse(t, settings))
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Build(objective.Training{Dim: 4, Width: 4, Vocabulary: 9, Languages: []string{"en"}, Table: "table"})
		if !badinput.Is(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", settings, err, want)
		}
	}
}

// TestNeeds: a vector in place of the first token needs one, and vectors as wide as tokens; comparing pairs needs two.
func TestNeeds(t *testing.T) {
	for settings, want := range map[string]objective.Needs{
		"masking: 0.4":                   {First: true, TokenDim: true, Pairs: 2},
		"context: translation":           {First: true, TokenDim: true, Pairs: 2},
		"context: none":                  {Pairs: 2},
		"koleo_weight: 0":                {First: true, TokenDim: true, Pairs: 1},
		"context: none, koleo_weight: 0": {Pairs: 1},
		"koleo_weight: 0, alignment: contrastive, temperature: 1": {First: true, TokenDim: true, Pairs: 2},
	} {
		s, err := objective.Default("mexma").With(objectivetest.Parse(t, settings))
		if err != nil {
			t.Fatal(err)
		}
		want.Tokens, want.Table, want.Mask = true, true, true
		if s.Needs() != want {
			t.Errorf("%s needs %+v, want %+v", settings, s.Needs(), want)
		}
		// a projection
		_, err = s.Build(objective.Training{Dim: 16, Width: 8, Vocabulary: 9, Languages: []string{"en"}, Table: "table"})
		refused := badinput.Is(err) && strings.Contains(err.Error(), "needs vectors as wide as tokens")
		if refused != want.TokenDim || !refused && err != nil {
			t.Errorf("%s with a projection: %v", settings, err)
		}
	}
}
