package index

import (
	"bitextmine/encode/embedding"
	"bitextmine/mine"
)

// Refiner turns one query's candidates into its final list. It holds scratch memory: one for each goroutine.
type Refiner struct {
	half       *Half
	list, open best
	row        []float32
}

// NewRefiner returns a refiner for this direction.
func (h *Half) NewRefiner() *Refiner {
	return &Refiner{half: h, list: newBest(h.K), open: newBest(h.K), row: make([]float32, h.Base.Dim())}
}

// Refine recomputes the cosines of distinct query row q with the distinct base rows in candidates (each once; mine.None is
// skipped), keeps the k nearest and writes the list. ceiling is an upper bound on the inner product of q with every distinct base row that
// is not a candidate, -Inf when there is none. It reports whether the list is proven: false means that a row outside
// the candidates might tie with the last or beat it.
func (r *Refiner) Refine(q int, query []float32, candidates []int32, ceiling float64) bool {
	r.list.reset()
	base := r.half.Base
	for _, c := range candidates {
		if c == mine.None {
			continue
		}
		cosine := embedding.Dot(query, base.Row(int(c), r.row))
		r.list.offer(neighbour{c, base.place(int32(base.row(int(c)))), cosine})
	}
	r.write(q)
	// Rounding is monotone: a true product of at most ceiling has a cosine of at most float32(ceiling). embedding.Dot's own
	// rounding in float64 is far inside the ceiling's slack.
	return len(candidates) >= base.Len() || r.list.full() && float32(ceiling) < r.list.last().cosine
}

// Exhaust computes the cosines of distinct query row q with every distinct base row and writes the list.
func (r *Refiner) Exhaust(q int, query []float32) {
	r.list.reset()
	base := r.half.Base
	for i := range base.Len() {
		cosine := embedding.Dot(query, base.Row(i, r.row))
		r.list.offer(neighbour{int32(i), base.place(int32(base.row(i))), cosine})
	}
	r.write(q)
}

// write opens r.list up from distinct rows to rows, and gives it to every row of distinct query row q.
func (r *Refiner) write(q int) {
	list := &r.list
	if base := r.half.Base; base.first != nil {
		// The k nearest rows are among the rows of the k nearest distinct rows, whose order is that of their first member.
		r.open.reset()
		for _, n := range r.list.items {
			rows := base.rows(int(n.id), nil)
			for _, row := range rows[:min(len(rows), r.half.K)] {
				r.open.offer(neighbour{row, base.place(row), n.cosine})
			}
		}
		list = &r.open
	}
	var one [1]int32
	for _, row := range r.half.Queries.rows(q, &one) {
		ids, cosines := r.half.out.Row(int(row))
		for i, n := range list.items {
			ids[i], cosines[i] = n.id, n.cosine
		}
	}
}

type neighbour struct {
	id, place int32
	cosine    float32
}

// before is the order of a list: cosine descending, then place ascending.
func (n neighbour) before(m neighbour) bool {
	return n.cosine > m.cosine || n.cosine == m.cosine && n.place < m.place
}

// best keeps the k first neighbours of those offered, in order.
type best struct {
	k     int
	items []neighbour
}

func newBest(k int) best { return best{k: k, items: make([]neighbour, 0, k)} }

func (b *best) reset() { b.items = b.items[:0] }

func (b *best) full() bool { return len(b.items) == b.k }

func (b *best) last() neighbour { return b.items[len(b.items)-1] }

func (b *best) offer(n neighbour) {
	if b.full() {
		if !n.before(b.last()) {
			return
		}
		b.items = b.items[:b.k-1]
	}
	i := len(b.items)
	b.items = append(b.items, n)
	for ; i > 0 && n.before(b.items[i-1]); i-- {
		b.items[i] = b.items[i-1]
	}
	b.items[i] = n
}
