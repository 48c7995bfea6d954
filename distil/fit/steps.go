package fit

import (
	"cmp"
	"math"
	"slices"
	"sync"
	"sync/atomic"
)

// stepHead is a step of Adam (D. P. Kingma and J. Ba 2015) of the head's weights.
func (r *run) stepHead(passes []*Pass, items, step int, share float64) {
	const beta1, beta2, epsilon = 0.9, 0.98, 1e-9
	rate := r.HeadRate * share * math.Sqrt(1-math.Pow(beta2, float64(step))) / (1 - math.Pow(beta1, float64(step)))
	for name, w := range r.head.Weights {
		m := r.moments[name]
		parts := make([][]float32, len(passes))
		for i, p := range passes {
			parts[i] = p.weights[name]
		}
		parallel(r.Threads, w.Rows, func(row int) {
			for k := row * w.Columns; k < (row+1)*w.Columns; k++ {
				g := 0.0
				for _, part := range parts {
					g += float64(part[k])
				}
				g /= float64(items)
				m.first[k] = beta1*m.first[k] + (1-beta1)*g
				m.second[k] = beta2*m.second[k] + (1-beta2)*g*g
				w.Values[k] -= float32(rate * m.first[k] / (math.Sqrt(m.second[k]) + epsilon))
			}
		})
	}
}

// use is an occurrence of a piece in a batch's sentence.
type use struct{ id, sentence int32 }

// stepTable moves every row that the batch has against its gradient, divided by the root of the row's running mean
// square: rare pieces move as far as frequent ones.
func (r *run) stepTable(batch []Item, share float64) {
	var uses []use
	for j, item := range batch {
		for _, id := range r.Sentences.At(int(item.Sentence)) {
			uses = append(uses, use{id, int32(j)})
		}
	}
	slices.SortFunc(uses, func(a, b use) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.sentence, b.sentence))
	})
	sentences, starts := make([]int32, len(uses)), []int{}
	for k, u := range uses {
		sentences[k] = u.sentence
		if k == 0 || uses[k-1].id != u.id {
			starts = append(starts, k)
		}
	}
	starts = append(starts, len(uses))
	const together, beta = 64, 0.98
	parallel(r.Threads, (len(starts)-1+together-1)/together, func(block int) {
		sum := make([]float32, r.Dim)
		for s := block * together; s < min((block+1)*together, len(starts)-1); s++ {
			id := int(uses[starts[s]].id)
			squares := sumRows(sentences[starts[s]:starts[s+1]], r.grads, r.Dim, sum) / float64(r.Dim)
			if r.squares[id] > 0 {
				squares = beta*r.squares[id] + (1-beta)*squares
			}
			if r.squares[id] = squares; squares == 0 {
				continue
			}
			row := r.row(r.table, id)
			addScaled(float32(-r.rate*share/math.Sqrt(squares)), sum, row)
			if r.Round != nil {
				r.Round(id, row, r.row(r.shipped, id))
			}
		}
	})
}

// parallel calls do for 0 to n-1, on so many threads.
func parallel(threads, n int, do func(int)) {
	var group sync.WaitGroup
	var taken atomic.Int64
	for range min(threads, n) {
		group.Go(func() {
			for i := int(taken.Add(1)) - 1; i < n; i = int(taken.Add(1)) - 1 {
				do(i)
			}
		})
	}
	group.Wait()
}
