package data

import (
	"math"
	"math/rand/v2"
	"slices"

	"bitextmine/internal/badinput"
)

// order draws rows and collects them into batches, of one language pair or of all together. The result depends only on
// the set's lengths and languages and on the config.
//
// A row is drawn from a random permutation of its language pair, so each row is drawn once per epoch of the pair. It
// waits in the bucket of its length until the bucket is full. If the next permutation reaches a row that is still
// waiting, the row is drawn as soon as it has left, so that no batch has a row twice. After as many draws as there are
// rows, the waiting rows are emitted in batches of mixed lengths, oldest first; the youngest, which do not fill a
// batch, continue to wait. So no row waits much longer than one round. With any_length all rows wait in one bucket.
type order struct {
	size    int // pairs of a batch
	lengths []int
	any     bool
	rng     *rand.Rand
	groups  []*group
	stacks  []*stack // one if mixed, otherwise one for each group
	ready   []drawn  // batches to emit before more rows are drawn
	draws   int
}

// drawn is the rows of a batch and the length that they are padded to.
type drawn struct {
	rows   []int32
	length int
}

// group is the rows of a language pair.
type group struct {
	rows    []int32
	weight  float64
	queue   []int32 // the rest of its permutation
	owed    []int32 // rows that were skipped because they wait in a bucket
	again   []int32 // skipped rows that no longer wait
	blocked bool    // all rows wait in a bucket
	stack   *stack
}

// stack is the waiting rows by bucket, oldest first.
type stack struct {
	buckets [][]waiting
	rows    map[int32]struct{}
	groups  []*group
	n       int // number of rows of its groups
	since   int // draws since the last clearing was due
}

type waiting struct {
	row    int32
	draw   int // number of the draw
	bucket int // bucket of its length
}

func newOrder(s *Set, c Config) (*order, error) {
	o := &order{size: c.BatchSize, lengths: c.lengths(), any: c.AnyLength,
		rng: rand.New(rand.NewPCG(c.Seed, 0x6f72646572))}
	for g := range s.Groups {
		o.groups = append(o.groups, &group{weight: math.Pow(float64(s.Groups[g].Pairs), 1/c.Temperature)})
	}
	for i, g := range s.group {
		o.groups[g].rows = append(o.groups[g].rows, int32(i))
	}
	if c.Mixed {
		if s.Len() < c.BatchSize {
			return nil, badinput.Errorf("bitext.batch_size is %d, but the bitext has only %d pairs: lower it or give more bitext", c.BatchSize, s.Len())
		}
		o.stacks = []*stack{newStack(len(o.lengths), o.groups...)}
		return o, nil
	}
	for i, g := range o.groups {
		if len(g.rows) < c.BatchSize {
			return nil, badinput.Errorf("bitext.batch_size is %d, but %s has only %d pairs, too few for a batch of its own: lower it, give more bitext or set bitext.mixed",
				c.BatchSize, s.GroupName(i), len(g.rows))
		}
		o.stacks = append(o.stacks, newStack(len(o.lengths), g))
	}
	return o, nil
}

func newStack(buckets int, groups ...*group) *stack {
	s := &stack{buckets: make([][]waiting, buckets), rows: map[int32]struct{}{}, groups: groups}
	for _, g := range groups {
		g.stack = s
		s.n += len(g.rows)
	}
	return s
}

// next returns the next batch. longest gives the number of tokens of a row's longer side.
func (o *order) next(longest func(row int32) int) drawn {
	for len(o.ready) == 0 {
		g := o.pick()
		if g == nil { // all rows wait: there are more of them than a batch has
			for _, s := range o.stacks {
				o.clear(s)
			}
			continue
		}
		row, ok := g.draw(o.rng)
		if !ok {
			g.blocked = true
			continue
		}
		o.put(g.stack, row, longest(row))
	}
	d := o.ready[0]
	o.ready = o.ready[1:]
	return d
}

// pick draws a language pair by weight among those that have a row to draw.
func (o *order) pick() *group {
	total := 0.0
	var last *group
	for _, g := range o.groups {
		if !g.blocked {
			total += g.weight
			last = g
		}
	}
	at := o.rng.Float64() * total
	for _, g := range o.groups {
		if g.blocked {
			continue
		}
		if at -= g.weight; at < 0 {
			return g
		}
	}
	return last // because of rounding
}

// draw returns the next row that does not wait. Waiting rows are recorded as owed and are drawn first once their batch
// was emitted.
func (g *group) draw(rng *rand.Rand) (int32, bool) {
	for fresh := false; ; {
		from := &g.again
		if len(*from) == 0 {
			from = &g.queue
		}
		if len(*from) == 0 {
			if fresh { // a whole permutation, and all its rows wait
				return 0, false
			}
			g.permute(rng)
			fresh = true
			continue
		}
		row := (*from)[0]
		*from = (*from)[1:]
		if _, waits := g.stack.rows[row]; !waits {
			return row, true
		}
		g.owed = append(g.owed, row)
	}
}

// permute begins the next epoch of the group. A row that is already owed twice is left out, which happens if a small
// group is drawn far beyond its share.
func (g *group) permute(rng *rand.Rand) {
	owed := map[int32]int{}
	for _, row := range g.owed {
		owed[row]++
	}
	g.queue = make([]int32, 0, len(g.rows))
	for _, row := range g.rows {
		if owed[row] < 2 {
			g.queue = append(g.queue, row)
		}
	}
	rng.Shuffle(len(g.queue), func(i, j int) { g.queue[i], g.queue[j] = g.queue[j], g.queue[i] })
}

// free makes owed rows that no longer wait available.
func (g *group) free() {
	g.blocked = false
	owed := g.owed[:0]
	for _, row := range g.owed {
		if _, waits := g.stack.rows[row]; waits {
			owed = append(owed, row)
		} else {
			g.again = append(g.again, row)
		}
	}
	g.owed = owed
}

// put adds a row to its bucket and emits a batch if the bucket is full.
func (o *order) put(s *stack, row int32, tokens int) {
	length, _ := slices.BinarySearch(o.lengths, tokens)
	b := length
	if o.any {
		b = 0
	}
	s.rows[row] = struct{}{}
	s.buckets[b] = append(s.buckets[b], waiting{row, o.draws, length})
	o.draws++
	s.since++
	if len(s.buckets[b]) == o.size {
		o.emit(s, s.buckets[b])
		s.buckets[b] = s.buckets[b][:0]
	}
	if s.since >= s.n && len(s.rows) >= o.size {
		s.since -= s.n // not 0: a late clearing must not delay the next one
		o.clear(s)
	}
}

// emit makes a batch of rows, padded to the bucket of the longest.
func (o *order) emit(s *stack, ws []waiting) {
	d := drawn{rows: make([]int32, len(ws))}
	for i, w := range ws {
		d.rows[i] = w.row
		d.length = max(d.length, o.lengths[w.bucket])
		delete(s.rows, w.row)
	}
	for _, g := range s.groups {
		g.free()
	}
	o.ready = append(o.ready, d)
}

// clear makes as many batches as possible of the waiting rows, oldest rows and similar lengths first.
func (o *order) clear(s *stack) {
	all := slices.Concat(s.buckets...)
	slices.SortFunc(all, func(a, b waiting) int { return a.draw - b.draw })
	out := len(all) / o.size * o.size
	for b := range s.buckets {
		s.buckets[b] = s.buckets[b][:0]
	}
	for _, w := range all[out:] {
		b := w.bucket
		if o.any {
			b = 0
		}
		s.buckets[b] = append(s.buckets[b], w)
	}
	if all = all[:out]; !o.any {
		slices.SortStableFunc(all, func(a, b waiting) int { return a.bucket - b.bucket })
	}
	first := len(o.ready)
	for ; len(all) > 0; all = all[o.size:] {
		o.emit(s, all[:o.size])
	}
	made := o.ready[first:]
	o.rng.Shuffle(len(made), func(i, j int) { made[i], made[j] = made[j], made[i] })
}
