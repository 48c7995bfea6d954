// Package wacse has translation ranking together with two losses of words that a word aligner says are translations of
// each other, and its ablations.
package wacse

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/layers"
	"bitextmine/train/objective"
	"bitextmine/train/objective/contrastive"
	"bitextmine/train/weights"
	"bitextmine/train/words"
)

// wacse ranks translations of sentences and of words, and predicts words from the context of their translations (Miao
// et al., WACSE, 2024). x_j and y_k are linked words of a pair X, Y, and φ(x, y) is the mean of the cosines of all
// tokens of x with all tokens of y:
//
//	tr  = -(1/N) Σ_i log softmax_n(cos(u_i, v_n)/T) at n = i
//	awp = (1/2N) Σ (l(X) + l(Y)),  l(X) = Σ over links of -log p(y_k | X without x_j)
//	wtr = (1/2N) Σ (r(X) + r(Y)),  r(X) = Σ over links of -log softmax_n(φ(x_j, y_n)/T_w) at n = k, over all words n of Y
//
// In awp the tokens of x_j are masked, and the first of them predict the tokens of y_k, one each, as far as both have
// tokens: p is the product of softmax(W·head(token) + b), with the encoder's table W and the head of XLM-R's masked
// language model, head(x) = norm(gelu(dense(x))). The sum over all x_j is estimated: a share of a sentence's linked
// words is masked at once, and their sum is multiplied by the linked words per masked one.
type wacse struct {
	Settings
	objective.Training
}

const (
	denseName = "heads.word.dense"
	normName  = "heads.word.norm"
	biasName  = "heads.word.bias" // [vocabulary], of the logits
)

func (w *wacse) Heads() []weights.Spec {
	if w.AWPWeight == 0 {
		return nil
	}
	specs := append(layers.DenseSpecs(denseName, w.Width, w.Width), layers.NormSpecs(normName, w.Width)...)
	return append(specs, weights.Spec{Name: biasName, Shape: []int{w.Vocabulary}, Init: weights.Zeros, NoDecay: true})
}

func (w *wacse) Terms() (terms []objective.Term) {
	for _, t := range []struct {
		name   string
		weight float64
	}{{"tr", w.TRWeight}, {"awp", w.AWPWeight}, {"wtr", w.WTRWeight}} {
		if t.weight > 0 {
			terms = append(terms, objective.Term{Name: t.name, Weight: objective.Fixed(t.weight)})
		}
	}
	return terms
}

// Views are the two sides, and with awp their masked copies.
func (w *wacse) Views(b *data.Batch) ([]data.Side, error) {
	if w.AWPWeight == 0 {
		return b.Views[:2], nil
	}
	views, _ := w.mask(b)
	return views, nil
}

func (w *wacse) Inputs(_ context.Context, b *data.Batch, views []data.Side) (inputs []*tensors.Tensor, err error) {
	if w.AWPWeight > 0 {
		_, targets := w.mask(b)
		if inputs, err = w.predicted(len(b.Words), longest(views), targets); err != nil {
			return nil, err
		}
	}
	if w.WTRWeight > 0 {
		inputs = append(inputs, ranked(longest(views), b.Words)...)
	}
	return inputs, nil
}

func (w *wacse) Loss(s objective.Step) (values []*graph.Node) {
	if w.TRWeight > 0 {
		values = append(values, w.ranking().Loss(s.Vectors(data.SourceView), s.Vectors(data.TargetView))[0])
	}
	inputs := s.Inputs
	if w.AWPWeight > 0 {
		values = append(values, w.predict(s, inputs[:predictedInputs]))
		inputs = inputs[predictedInputs:]
	}
	if w.WTRWeight > 0 {
		values = append(values, w.rankWords(s.Views[0].Tokens, s.Views[1].Tokens, inputs))
	}
	return values
}

// head is the shape of the layers before the prediction: XLM-R's.
func (w *wacse) head() layers.Shape { return layers.Shape{Width: w.Width, Epsilon: 1e-5} }

// predict is awp.
func (w *wacse) predict(s objective.Step, inputs []*graph.Node) *graph.Node {
	x := graph.Concatenate([]*graph.Node{s.Views[2].Tokens, s.Views[3].Tokens}, 0)
	x = graph.Gather(graph.Reshape(x, x.Shape().Size()/w.Width, w.Width), inputs[0])
	head := layers.Stack{Shape: w.head(), Params: s.Heads}
	x = head.Normalise(normName, layers.Gelu(head.Dense(denseName, x)))
	return objective.Tokens(x, s.Heads[w.Table], s.Heads[biasName], inputs[1], inputs[2])
}

// rankWords is wtr, of the tokens of both sides [n, length, width].
func (w *wacse) rankWords(source, target *graph.Node, inputs []*graph.Node) *graph.Node {
	// The mean of all cosines of two words' tokens is the product of the means of their tokens of length 1.
	x, y := mean(inputs[0], source), mean(inputs[1], target)
	batch := []int{0}
	// [n, length, length]
	cosines := graph.MulScalar(graph.Dot(x, y).General([]int{2}, batch, []int{2}, batch), 1/w.WordTemperature)
	ofSource, ofTarget, links := graph.InsertAxes(inputs[2], -1), graph.InsertAxes(inputs[3], 1), inputs[4]
	forward := objective.LogSumExp(graph.Add(cosines, layers.Absent(ofTarget)), 2)
	backward := objective.LogSumExp(graph.Add(cosines, layers.Absent(ofSource)), 1)
	surprise := graph.Sub(graph.Add(forward, backward), graph.MulScalar(cosines, 2))
	return graph.MulScalar(graph.ReduceAllSum(graph.Mul(links, surprise)), 1/float64(2*cosines.Shape().Dimensions[0]))
}

// mean is the mean of each word's tokens, divided by their lengths. shares are [n, words, length].
func mean(shares, tokens *graph.Node) *graph.Node {
	batch := []int{0}
	return graph.Dot(shares, objective.Normalise(tokens)).General([]int{2}, batch, []int{1}, batch)
}

// Settings are the settings of wacse. A term of weight 0 is left out.
type Settings struct {
	Temperature     float64 `yaml:"temperature"`      // temperature of translation ranking
	WordTemperature float64 `yaml:"word_temperature"` // temperature of word translation ranking
	TRWeight        float64 `yaml:"tr_weight"`        // α, of translation ranking
	AWPWeight       float64 `yaml:"awp_weight"`       // β, of aligned word prediction
	WTRWeight       float64 `yaml:"wtr_weight"`       // γ, of word translation ranking
	Masking         float64 `yaml:"masking"`          // share of a sentence's linked words that is masked at once
}

func init() {
	objective.Register(objective.Descriptor{Name: "wacse", Settings: func() objective.Settings { return defaults() }})
}

// defaults are the paper's settings. The share of masked words, which it does not say, is BERT's.
func defaults() *Settings {
	return &Settings{Temperature: 1, WordTemperature: 1, TRWeight: 0.8, AWPWeight: 0.1, WTRWeight: 0.1, Masking: 0.15}
}

// Validate reports all problems.
func (s *Settings) Validate(check objective.Check) {
	s.ranking().Validate(check)
	check(s.WordTemperature > 0 && s.WordTemperature <= 100,
		"objective.word_temperature is %v but must be above 0 and at most 100", s.WordTemperature)
	for _, w := range []struct {
		name  string
		value float64
	}{{"tr_weight", s.TRWeight}, {"awp_weight", s.AWPWeight}, {"wtr_weight", s.WTRWeight}} {
		check(w.value >= 0, "objective.%s is %v but cannot be negative", w.name, w.value)
	}
	check(s.TRWeight+s.AWPWeight+s.WTRWeight > 0,
		"objective.tr_weight, awp_weight and wtr_weight are all 0: give one a weight")
	check(s.Masking > 0 && s.Masking <= 1, "objective.masking is %v but must be above 0 and at most 1", s.Masking)
}

// ranking is translation ranking, of which only the direction from source to target is used.
func (s *Settings) ranking() contrastive.Ranking {
	return contrastive.Ranking{Temperature: s.Temperature}
}

// Needs is nothing for translation ranking alone.
func (s *Settings) Needs() objective.Needs {
	predicts := s.AWPWeight > 0
	reads := predicts || s.WTRWeight > 0
	return objective.Needs{Pairs: 2, Tokens: reads, Words: reads, Table: predicts, Mask: predicts}
}

// Build makes the objective.
func (s *Settings) Build(t objective.Training) (objective.Objective, error) {
	return &wacse{*s, t}, nil
}

// target is a token that a masked token predicts.
type target struct {
	view, row, place int     // position of the masked token, among the masked views
	id               int32   // id that it predicts
	share            float32 // share of the loss, without 1/2N
}

// mask masks words of a batch. The seed and the step determine it. It returns the clean sides and the masked ones.
func (w *wacse) mask(b *data.Batch) (views []data.Side, targets []target) {
	rng := rand.New(rand.NewPCG(w.Seed, uint64(b.Step)))
	views = slices.Clone(b.Views[:2])
	for view, clean := range b.Views[:2] {
		masked, other := clean, b.Views[1-view]
		masked.IDs = slices.Clone(clean.IDs)
		for row, pair := range b.Words {
			if view == 1 {
				pair = pair.Swapped()
			}
			drawn, scale := w.draw(rng, pair.Links)
			for _, l := range pair.Links {
				if drawn[l.Source] {
					targets = append(targets, predictions(view, row, pair.Source[l.Source], other.Sentence(row),
						pair.Target[l.Target], scale)...)
				}
			}
			ids := masked.Sentence(row)
			for word := range drawn {
				for p := pair.Source[word].Begin; p < pair.Source[word].End; p++ {
					ids[p] = w.Training.Mask
				}
			}
		}
		views = append(views, masked)
	}
	return views, targets
}

// draw draws linked words: round(masking x their number), at least one. scale is how many there are for each.
func (w *wacse) draw(rng *rand.Rand, links []words.Link) (drawn map[uint16]bool, scale float32) {
	var linked []uint16
	for _, l := range links { // ascending
		if n := len(linked); n == 0 || linked[n-1] != l.Source {
			linked = append(linked, l.Source)
		}
	}
	if len(linked) == 0 {
		return drawn, scale
	}
	count := max(1, int(math.Round(w.Masking*float64(len(linked)))))
	scale = float32(len(linked)) / float32(count)
	drawn = map[uint16]bool{}
	for i := range count { // the first steps of a Fisher-Yates shuffle
		j := i + rng.IntN(len(linked)-i)
		linked[i], linked[j] = linked[j], linked[i]
		drawn[linked[i]] = true
	}
	return drawn, scale
}

// predictions are the tokens of a word of the other sentence at the places of a masked word. The longer of the two is
// clipped.
func predictions(view, row int, masked words.Span, other []int32, word words.Span, share float32) (out []target) {
	for k := range min(masked.End-masked.Begin, word.End-word.Begin) {
		out = append(out, target{view, row, int(masked.Begin + k), other[word.Begin+k], share})
	}
	return out
}

// predictedInputs is how many inputs predicted gives.
const predictedInputs = 3

// predicted are of each target its place in the tokens of the two masked views of n sentences [targets, 1], its token
// [targets, 1] and its share of the loss [targets], which is 0 where there is none. Their number is rounded up, because
// each new one is compiled.
func (w *wacse) predicted(n, length int, targets []target) ([]*tensors.Tensor, error) {
	size := objective.RoundUp(len(targets), 2*n*length)
	places, ids, shares := make([]int64, size), make([]int64, size), make([]float32, size)
	for k, t := range targets {
		if t.id < 0 || int(t.id) >= w.Vocabulary {
			return nil, fmt.Errorf("a batch has the token %d but the vocabulary has %d", t.id, w.Vocabulary)
		}
		places[k], ids[k], shares[k] = int64((t.view*n+t.row)*length+t.place), int64(t.id), t.share/float32(2*n)
	}
	return []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(places, size, 1),
		tensors.FromFlatDataAndDimensions(ids, size, 1),
		tensors.FromFlatDataAndDimensions(shares, size),
	}, nil
}

// ranked are the words of both sides: the shares of tokens in each word [n, length, length], twice; which words there
// are [n, length], twice; and 1 for each link [n, length, length]. A sentence has at most as many words as tokens.
func ranked(length int, pairs []words.Pair) []*tensors.Tensor {
	n := len(pairs)
	square := n * length * length
	shares := [...][]float32{make([]float32, square), make([]float32, square)}
	present := [...][]float32{make([]float32, n*length), make([]float32, n*length)}
	links := make([]float32, square)
	for row, pair := range pairs {
		for side, spans := range [][]words.Span{pair.Source, pair.Target} {
			for word, span := range spans {
				at := row*length + word
				present[side][at] = 1
				for p := span.Begin; p < span.End; p++ {
					shares[side][at*length+int(p)] = 1 / float32(span.End-span.Begin)
				}
			}
		}
		for _, l := range pair.Links {
			links[(row*length+int(l.Source))*length+int(l.Target)] = 1
		}
	}
	return []*tensors.Tensor{
		tensors.FromFlatDataAndDimensions(shares[0], n, length, length),
		tensors.FromFlatDataAndDimensions(shares[1], n, length, length),
		tensors.FromFlatDataAndDimensions(present[0], n, length),
		tensors.FromFlatDataAndDimensions(present[1], n, length),
		tensors.FromFlatDataAndDimensions(links, n, length, length),
	}
}

// longest is the length to which all views are padded.
func longest(views []data.Side) (length int) {
	for _, view := range views {
		length = max(length, view.Length)
	}
	return length
}
