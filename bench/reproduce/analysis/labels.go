package analysis

import (
	"context"
	"math"

	"bitextmine/eval/testset"
)

// Labels describes the distributions that a teacher gives over the sentences of a batch.
type Labels struct {
	Own  float64 // mean probability of the sentence itself
	Bits float64 // mean entropy
}

// Soften computes the labels of IMASCL for batches of sentences: softmax of the teacher's cosines, divided by a
// temperature. texts[i] has sentences of languages[i]; with two languages, lines are translations and cosines are their
// mean, as with average labels. A last batch that is not full is left out.
func Soften(ctx context.Context, teacher testset.Encoder, languages []string, texts [][]string, batch int,
	temperature float64) (l Labels, err error) {
	n, dim := len(texts[0])/batch*batch, teacher.Dim()
	sides := make([][]float32, len(texts))
	for i := range texts {
		sides[i] = make([]float32, n*dim)
		if err := teacher.Encode(ctx, languages[i], texts[i][:n], sides[i]); err != nil {
			return l, err
		}
	}
	row := make([]float64, batch)
	for i := range n {
		first := i / batch * batch
		for j := range row {
			row[j] = 0
			for _, side := range sides {
				at := first + j
				row[j] += cosine(side[i*dim:(i+1)*dim], side[at*dim:(at+1)*dim]) / temperature / float64(len(sides))
			}
		}
		softmax(row)
		l.Own += row[i-first] / float64(n)
		for _, p := range row {
			if p > 0 {
				l.Bits -= p * math.Log2(p) / float64(n)
			}
		}
	}
	return l, nil
}
