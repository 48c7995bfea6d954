package objective

import (
	"fmt"
	"math"

	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/data"
	"bitextmine/train/weights"
)

// Reconstruction predicts the words of the other side from a sentence vector. With u_la the vector of the language to be predicted:
//
//	q    = softmax(W_emb swish(W_fc (u_la ⊕ u) + b_fc)) over the vocabulary
//	p(w) = count of w in the other side / its words
//	xtr  = (1/N) Σ KL(p || q) over the pairs and both directions
//
// ugt also predicts one word of the own side, which Prepare has masked: p is half that word and half the p above. Its paper (Mao et al., 2021) says
// that one distribution holds both; equal halves are our reading. Special tokens and padding are no words.

const (
	languageTable = "heads.reconstruction.languages" // W_la [languages, language dim]
	fullLayer     = "heads.reconstruction.fc"        // W_fc
	wordTable     = "heads.reconstruction.words"     // W_emb [vocabulary, out]
)

func (e *ems) reconstructionHeads(dim int) []weights.Spec {
	var specs []weights.Spec
	in := dim
	if e.s.LanguageToken {
		in += e.s.LanguageDim
		specs = append(specs, weights.Spec{Name: languageTable, Shape: []int{len(e.s.Languages), e.s.LanguageDim}, Init: weights.Normal, Scale: 1})
	}
	if e.s.SharedEmbedding { // what is compared with the encoder's words must be as wide as they are
		return append(specs, layer(fullLayer, in, dim)...)
	}
	specs = append(specs, layer(fullLayer, in, in)...)
	return append(specs, weights.Spec{Name: wordTable, Shape: []int{e.s.Vocabulary, in}, Init: weights.Normal, Scale: 0.02})
}

// reconstruction is the term: the first n rows go from source to target.
func (e *ems) reconstruction(s Step) *g.Node {
	p, negentropy := s.Inputs[0], s.Inputs[1]
	x := g.Concatenate([]*g.Node{s.Source.Vectors, s.Target.Vectors}, 0)
	if e.s.LanguageToken {
		language := g.DotGeneral(s.Inputs[2], []int{1}, nil, s.Heads[languageTable], []int{0}, nil)
		x = g.Concatenate([]*g.Node{language, x}, 1)
	}
	x = affine(x, s.Heads, fullLayer)
	words := s.Heads[wordTable]
	if e.s.SharedEmbedding {
		words = s.Heads[e.s.Table]
	}
	logits := g.DotGeneral(g.Mul(x, g.Sigmoid(x)), []int{1}, nil, words, []int{1}, nil)
	bothWays := g.MulScalar(crossEntropy(p, logits, 1), 2) // over its 2n rows it is a mean
	return g.Add(bothWays, negentropy)
}

// reconstructionInputs are p [2n, vocabulary]; Σ p log p / n, a scalar; the languages to be predicted as unit vectors [2n, languages], where asked for.
func (e *ems) reconstructionInputs(b *data.Batch) ([]*tensors.Tensor, error) {
	n := b.Source.N
	ugt := e.s.Reconstruction == UGT
	if ugt && e.masked.batch != b {
		return nil, fmt.Errorf("objective ugt: the inputs of step %d's batch were asked for before Prepare was called with it", b.Step)
	}
	p := make([]float32, 2*n*e.s.Vocabulary)
	var negentropy float64
	for way, sides := range [2][2]*data.Side{{&b.Source, &b.Target}, {&b.Target, &b.Source}} {
		for i := range n {
			row := p[(way*n+i)*e.s.Vocabulary : (way*n+i+1)*e.s.Vocabulary]
			weight := float32(1)
			if hidden := e.masked.of(way, i); ugt && hidden >= 0 {
				weight = 0.5
				row[hidden] += 0.5
			}
			h, err := e.count(row, weight, sides[1], 1-way, i)
			if err != nil {
				return nil, err
			}
			negentropy += h
		}
	}
	inputs := []*tensors.Tensor{tensors.FromFlatDataAndDimensions(p, 2*n, e.s.Vocabulary), tensors.FromScalar(float32(negentropy / float64(n)))}
	if !e.s.LanguageToken {
		return inputs, nil
	}
	languages := make([]float32, 2*n*len(e.s.Languages))
	for i := range n {
		languages[i*len(e.s.Languages)+int(b.Target.Languages[i])] = 1
		languages[(n+i)*len(e.s.Languages)+int(b.Source.Languages[i])] = 1
	}
	return append(inputs, tensors.FromFlatDataAndDimensions(languages, 2*n, len(e.s.Languages))), nil
}

// count adds the words of sentence i, of the side that way stands for, to row; together they weigh weight. It gives Σ row log row over what the row then
// holds. A sentence without words adds nothing.
func (e *ems) count(row []float32, weight float32, side *data.Side, way, i int) (float64, error) {
	ids, err := e.sentence(side, way, i)
	if err != nil {
		return 0, err
	}
	words := 0
	for _, id := range ids {
		if !e.special[id] {
			words++
		}
	}
	for _, id := range ids {
		if !e.special[id] {
			row[id] += weight / float32(words)
		}
	}
	var sum float64
	counted := map[int32]bool{} // in the order of the words, which fixes the sum's last bit
	add := func(id int32) {
		if p := float64(row[id]); p > 0 && !counted[id] {
			counted[id] = true
			sum += p * math.Log(p)
		}
	}
	if hidden := e.masked.of(1-way, i); hidden >= 0 {
		add(hidden)
	}
	for _, id := range ids {
		add(id)
	}
	return sum, nil
}
