package fit

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
)

// Settings of the descent.
type Settings struct {
	Epochs      float64 // how often every item is seen
	Batch       int     // items a step; their aims are each other's contrast
	TableRate   float64 // length of a step of a table's number, as a share of the table's root mean square
	HeadRate    float64 // Adam's rate for the head
	Temperature float64 // temperature of the contrast of vectors that point everywhere (see spread)
	Cosine      float64 // weight of 1 - cosine beside the contrast
	Seed        uint64
	Threads     int
	Report      func(step, steps int, loss float64) // called after each step with the mean loss of its items
}

// DefaultSettings were chosen on the training halves of the BUCC-style sets, with the universal sentence encoder as
// teacher.
func DefaultSettings() Settings {
	return Settings{Batch: 1024, TableRate: 0.045, HeadRate: 5e-4, Temperature: 0.05, Cosine: 1}
}

// warmUp is the number of steps over which the rates rise.
const warmUp = 50

// Item is a sentence and its aim: the sentence whose teacher's vector its own vector should be near, itself or a
// translation.
type Item struct{ Sentence, Aim int32 }

// Data are sentences of the table's ids and the teacher's vectors of them.
type Data struct {
	Sentences Sparse
	Scales    []float32 // factor of each sentence's sum
	Items     []Item
	Targets   []float32 // [sentences, Vector] of length 1
	Vector    int
	Dim       int // the table's columns
	// Round writes a row as it will ship, which the descent then sees; nil: rows ship as they are. It is called for
	// different rows at once.
	Round func(row int, values, shipped []float32)
}

// run is the state of a descent.
type run struct {
	Settings
	*Data
	head    *Head
	table   []float32 // [rows, Dim]
	shipped []float32 // the table, rounded
	rate    float64   // learning rate of the table
	squares []float64 // running mean of the squares of each row's gradient
	passes  []*Pass   // one for each chunk of a batch
	moments map[string]*moments
	grads   []float32 // [Batch, Dim] of the sums
	losses  []float64 // loss of each chunk
}

// moments are Adam's of one weight.
type moments struct{ first, second []float64 }

// Finish trains table [rows, d.Dim] and head in place and returns the mean loss of the first and of the last steps. The
// result does not depend on the number of threads.
func Finish(ctx context.Context, d *Data, table []float32, head *Head, s Settings) (first, last float64, err error) {
	r, err := newRun(d, table, head, s)
	if err != nil {
		return 0, 0, err
	}
	random := rand.New(rand.NewPCG(s.Seed, 2))
	order := slices.Clone(d.Items)
	each := max(1, len(order)/s.Batch)
	steps := int(math.Ceil(s.Epochs * float64(each)))
	measured := max(1, steps/10)
	for step := range steps {
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		at := step % each
		if at == 0 {
			random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		}
		decay := min(1, float64(step+1)/warmUp) * (1 - float64(step)/float64(steps))
		loss := r.step(order[at*s.Batch:min((at+1)*s.Batch, len(order))], step+1, decay)
		if step < measured {
			first += loss / float64(measured)
		}
		if step >= steps-measured {
			last += loss / float64(measured)
		}
		if s.Report != nil {
			s.Report(step+1, steps, loss)
		}
	}
	return first, last, nil
}

func newRun(d *Data, table []float32, head *Head, s Settings) (*run, error) {
	width, err := head.widths(d.Dim, d.Vector)
	if err != nil {
		return nil, err
	}
	r := &run{Settings: s, Data: d, head: head, table: table, shipped: table,
		squares: make([]float64, len(table)/d.Dim),
		moments: map[string]*moments{}, grads: make([]float32, s.Batch*d.Dim)}
	if d.Round != nil {
		r.shipped = make([]float32, len(table))
		parallel(s.Threads, len(table)/d.Dim, func(i int) { d.Round(i, r.row(table, i), r.row(r.shipped, i)) })
	}
	sum := 0.0
	for _, x := range table {
		sum += float64(x) * float64(x)
	}
	r.rate = s.TableRate * math.Sqrt(sum/float64(max(len(table), 1)))
	for range (s.Batch + Chunk - 1) / Chunk {
		r.passes = append(r.passes, head.newPass(width))
	}
	share := d.spread()
	r.Temperature *= share
	r.rate *= math.Sqrt(share)
	r.losses = make([]float64, len(r.passes))
	for name, w := range head.Weights {
		r.moments[name] = &moments{make([]float64, len(w.Values)), make([]float64, len(w.Values))}
	}
	return r, nil
}

// spread is the share of the targets' squares that is not their mean's. The targets' common part cancels out in the
// contrast. Differences between them, those of their cosines, and the length of a useful step are smaller by the root
// of the share.
func (d *Data) spread() float64 {
	mean := make([]float64, d.Vector)
	n := len(d.Targets) / d.Vector
	for i, x := range d.Targets {
		mean[i%d.Vector] += float64(x) / float64(n)
	}
	common := 0.0
	for _, x := range mean {
		common += x * x
	}
	return max(1-common, 0.01)
}

func (r *run) row(table []float32, i int) []float32 { return table[i*r.Dim : (i+1)*r.Dim] }

// step is one step of both the table and the head, by a share of the rates; it returns the batch's mean loss.
func (r *run) step(batch []Item, step int, share float64) float64 {
	turned := r.head.Turned()
	targets := make([]float32, len(batch)*r.Vector)
	for j, item := range batch {
		copy(targets[j*r.Vector:], r.Targets[int(item.Aim)*r.Vector:(int(item.Aim)+1)*r.Vector])
	}
	columns := Transposed(targets, r.Vector)
	chunks := (len(batch) + Chunk - 1) / Chunk
	parallel(r.Threads, chunks, func(c int) {
		lo := c * Chunk
		r.losses[c] = r.chunk(r.passes[c], batch[lo:min(lo+Chunk, len(batch))], lo, targets, columns, turned)
	})
	loss := 0.0
	for _, l := range r.losses[:chunks] {
		loss += l
	}
	r.stepHead(r.passes[:chunks], len(batch), step, share)
	r.stepTable(batch, share)
	return loss / float64(len(batch))
}

// chunk computes the loss of some of a batch's items, from the first'th on, and its gradients.
func (r *run) chunk(p *Pass, items []Item, first int, targets, columns []float32, turned Turned) float64 {
	n, vector := len(items), r.Vector
	var ids []int32
	var ends []int64
	var scales []float32
	for _, item := range items {
		ids = append(ids, r.Sentences.At(int(item.Sentence))...)
		ends, scales = append(ends, int64(len(ids))), append(scales, r.Scales[item.Sentence])
	}
	gather(ids, ends, r.shipped, r.Dim, scales, p.Features(n))
	out := p.Forward(n)
	unit := slices.Clone(out)
	for i := range n {
		normalise(unit[i*vector : (i+1)*vector])
	}
	loss, g := r.loss(unit, first, targets, columns)
	p.clear()
	to := p.grads[r.head.To]
	for i := range n {
		lo, hi := i*vector, (i+1)*vector
		normaliseBack(out[lo:hi], unit[lo:hi], g[lo:hi], to[lo:hi])
	}
	p.backward(n, turned)
	for i, scale := range scales {
		back, sums := r.row(p.grads[r.head.From], i), r.row(r.grads, first+i)
		for k, x := range back {
			sums[k] = x * scale
		}
	}
	return loss
}

// loss is the sum over rows of unit vectors of the contrast, -log softmax(cosine to each target / Temperature) of the
// row's own, and of Cosine times 1 - the cosine to it; and its gradient. columns are the targets transposed.
func (r *run) loss(unit []float32, first int, targets, columns []float32) (loss float64, grad []float32) {
	vector := r.Vector
	n, all := len(unit)/vector, len(targets)/vector
	logits := make([]float32, n*all)
	product(unit, vector, columns, all, logits, false)
	for i := range n {
		row := logits[i*all : (i+1)*all]
		loss += r.Cosine * (1 - float64(row[first+i]))
		loss += contrast(row, first+i, r.Temperature)
		row[first+i] -= float32(r.Cosine)
	}
	grad = make([]float32, n*vector)
	product(logits, all, targets, vector, grad, false)
	return loss, grad
}

// contrast is -log softmax(row/temperature)[own]; row becomes its gradient.
func contrast(row []float32, own int, temperature float64) float64 {
	most, at, sum := float64(slices.Max(row)), float64(row[own]), 0.0
	for k, x := range row {
		e := math.Exp((float64(x) - most) / temperature)
		row[k] = float32(e)
		sum += e
	}
	for k, e := range row {
		row[k] = float32(float64(e) / sum / temperature)
	}
	row[own] -= float32(1 / temperature)
	return math.Log(sum) - (at-most)/temperature
}
