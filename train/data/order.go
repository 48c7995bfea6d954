package data

import (
	"math"
	"math/rand/v2"
	"slices"

	"bitextmine/internal/badinput"
)

// order draws rows and gathers them to batches, one language pair or all together. What it does depends on the set's lengths and languages, the
// config and nothing else.
//
// A row is drawn from a random permutation of its language pair's, so that over an epoch of it each is drawn once. It waits in the bucket of its length
// until that is full. A row that still waits when the next permutation comes to it is drawn as soon as it has gone, so that no batch holds a row twice.
// After as many draws as there are rows, whatever waits goes out in batches of mixed lengths, the oldest rows first; the youngest, which fill none, wait
// on. So no row waits much longer than a round.
type order struct {
	size    int // pairs of a batch
	lengths []int
	mixed   bool
	rng     *rand.Rand
	groups  []*group
	stacks  []*stack // one if mixed, else one for each group
	ready   []drawn  // batches to hand out before anything more is drawn
	draws   int
}

// drawn is a batch's rows and the length that they are padded to.
type drawn struct {
	rows   []int32
	length int
}

// group is a language pair's rows.
type group struct {
	rows    []int32
	weight  float64
	queue   []int32 // what is left of its permutation
	owed    []int32 // rows that were passed over because they wait in a bucket
	again   []int32 // rows that were owed and wait no more
	blocked bool    // every row waits in a bucket
	stack   *stack
}

// stack is what waits: by bucket, the oldest first.
type stack struct {
	buckets [][]waiting
	rows    map[int32]struct{}
	groups  []*group
	n       int // rows of its groups
	since   int // draws since the last clearing was due
}

type waiting struct {
	row    int32
	draw   int // when
	bucket int
}

func newOrder(s *Set, c Config) (*order, error) {
	o := &order{size: c.BatchSize, lengths: c.lengths(), mixed: c.Mixed, rng: rand.New(rand.NewPCG(c.Seed, 0x6f72646572))}
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

// next gathers the next batch; longest says how many tokens a row's longer side has.
func (o *order) next(longest func(row int32) int) drawn {
	for len(o.ready) == 0 {
		g := o.pick()
		if g == nil { // every row waits: there are more of them than a batch has
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

// pick draws a language pair by weight among those that have a row to give.
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
	return last // rounding
}

// draw takes the next row that does not wait. The others are owed: they come first once a batch has gone out.
func (g *group) draw(rng *rand.Rand) (int32, bool) {
	for fresh := false; ; {
		from := &g.again
		if len(*from) == 0 {
			from = &g.queue
		}
		if len(*from) == 0 {
			if fresh { // a whole permutation, and every row of it waits
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

// permute begins the next epoch of the group. A row that is owed twice already, as happens in a small group that is drawn far beyond its share, is
// left out.
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

// free lets the rows that were owed and wait no more be drawn.
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

// put lets a row wait, and makes a batch of its bucket if that is full.
func (o *order) put(s *stack, row int32, tokens int) {
	b, _ := slices.BinarySearch(o.lengths, tokens)
	s.rows[row] = struct{}{}
	s.buckets[b] = append(s.buckets[b], waiting{row, o.draws, b})
	o.draws++
	s.since++
	if len(s.buckets[b]) == o.size {
		o.emit(s, s.buckets[b])
		s.buckets[b] = s.buckets[b][:0]
	}
	if s.since >= s.n && len(s.rows) >= o.size {
		s.since -= s.n // not 0: a late clearing must not make the next one late
		o.clear(s)
	}
}

// emit makes a batch of rows, padded to the longest one's bucket.
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

// clear makes as many batches as it can of what waits, oldest rows and like lengths first.
func (o *order) clear(s *stack) {
	all := slices.Concat(s.buckets...)
	slices.SortFunc(all, func(a, b waiting) int { return a.draw - b.draw })
	out := len(all) / o.size * o.size
	for b := range s.buckets {
		s.buckets[b] = s.buckets[b][:0]
	}
	for _, w := range all[out:] {
		s.buckets[w.bucket] = append(s.buckets[w.bucket], w)
	}
	all = all[:out]
	slices.SortStableFunc(all, func(a, b waiting) int { return a.bucket - b.bucket })
	first := len(o.ready)
	for ; len(all) > 0; all = all[o.size:] {
		o.emit(s, all[:o.size])
	}
	made := o.ready[first:]
	o.rng.Shuffle(len(made), func(i, j int) { made[i], made[j] = made[j], made[i] })
}
