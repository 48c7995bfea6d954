package ems

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/layers"
	"bitextmine/train/objective"

	"bitextmine/train/weights"
)

// Reconstruction predicts the words of the other side from a sentence vector. With u_la the vector of the language to
// be predicted:
//
//	q    = softmax(W_emb swish(W_fc (u_la ⊕ u) + b_fc)) over the vocabulary
//	p(w) = count of w in the other side / its words
//	xtr  = (1/N) Σ KL(p || q) over the pairs and both directions
//
// ugt also predicts one word of the own side, which the view masks: p is half that word and half the p above. Its paper
// (Mao et al., 2021) says that one distribution holds both; equal halves are our reading. Special tokens and padding
// are no words.

const (
	languageTable = "heads.reconstruction.languages" // W_la [languages, language dim]
	fullLayer     = "heads.reconstruction.fc"        // W_fc
	wordTable     = "heads.reconstruction.words"     // W_emb [vocabulary, out]
)

func (e *ems) reconstructionHeads() []weights.Spec {
	var specs []weights.Spec
	in := e.Dim
	if e.LanguageToken {
		in += e.LanguageDim
		specs = append(specs, layers.TableSpec(languageTable, len(e.Languages), e.LanguageDim, 1))
	}
	if e.SharedEmbedding { // the output is compared with the encoder's words and must be as wide as they are
		return append(specs, denseSpecs(fullLayer, in, e.Width)...)
	}
	specs = append(specs, denseSpecs(fullLayer, in, in)...)
	return append(specs, layers.TableSpec(wordTable, e.Vocabulary, in, 0.02))
}

// reconstruction is the term: the first n rows go from source to target.
func (e *ems) reconstruction(s objective.Step) *graph.Node {
	p, negentropy := s.Inputs[0], s.Inputs[1]
	x := graph.Concatenate([]*graph.Node{s.Vectors(data.SourceView), s.Vectors(data.TargetView)}, 0)
	if e.LanguageToken {
		language := graph.DotGeneral(s.Inputs[2], []int{1}, nil, s.Heads[languageTable], []int{0}, nil)
		x = graph.Concatenate([]*graph.Node{language, x}, 1)
	}
	full := layers.Stack{Params: s.Heads}
	x = full.Dense(fullLayer, x)
	words := s.Heads[wordTable]
	if e.SharedEmbedding {
		words = s.Heads[e.Table]
	}
	logits := graph.DotGeneral(graph.Mul(x, graph.Sigmoid(x)), []int{1}, nil, words, []int{1}, nil)
	bothWays := graph.MulScalar(objective.CrossEntropy(p, logits, 1), 2) // a mean over its 2n rows
	return graph.Add(bothWays, negentropy)
}

// reconstructionInputs are p [2n, vocabulary]; Σ p log p / n, a scalar; the languages to be predicted as unit vectors
// [2n, languages], where asked for.
func (e *ems) reconstructionInputs(b *data.Batch, views []data.Side) ([]*tensors.Tensor, error) {
	n := b.Views[data.SourceView].N
	p := make([]float32, 2*n*e.Vocabulary)
	var negentropy float64
	for own, other := range [2]int{data.TargetView, data.SourceView} {
		for i := range n {
			row := p[(own*n+i)*e.Vocabulary : (own*n+i+1)*e.Vocabulary]
			hidden := masked(b.Views[own].Sentence(i), views[own].Sentence(i))
			sum, err := e.distribution(row, b.Views[other].Sentence(i), hidden)
			if err != nil {
				return nil, err
			}
			negentropy += sum
		}
	}
	inputs := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(p, 2*n, e.Vocabulary),
		tensors.FromScalar(float32(negentropy / float64(n)))}
	if !e.LanguageToken {
		return inputs, nil
	}
	languages := make([]float32, 2*n*len(e.Languages))
	for i := range n {
		languages[i*len(e.Languages)+int(b.Views[data.TargetView].Languages[i])] = 1
		languages[(n+i)*len(e.Languages)+int(b.Views[data.SourceView].Languages[i])] = 1
	}
	return append(inputs, tensors.FromFlatDataAndDimensions(languages, 2*n, len(e.Languages))), nil
}

// distribution fills row, p, with the words of a sentence and with the hidden word of the other, if there is one; it
// gives Σ p log p. A sentence without words adds nothing.
func (e *ems) distribution(row []float32, sentence, hidden []int32) (float64, error) {
	all, words := slices.Concat(hidden, sentence), 0
	for _, id := range all {
		if id < 0 || int(id) >= e.Vocabulary {
			return 0, fmt.Errorf("a batch has the token %d but the vocabulary has %d", id, e.Vocabulary)
		}
	}
	for _, id := range sentence {
		if e.words.Has(id) {
			words++
		}
	}
	weight := float32(1)
	for _, id := range hidden {
		weight = 0.5
		row[id] += 0.5
	}
	for _, id := range sentence {
		if e.words.Has(id) {
			row[id] += weight / float32(words)
		}
	}
	var sum float64
	counted := map[int32]bool{} // the order of the words determines the sum's last bit
	for _, id := range all {
		if counted[id] || row[id] == 0 {
			continue
		}
		counted[id] = true
		p := float64(row[id])
		sum += p * math.Log(p)
	}
	return sum, nil
}
