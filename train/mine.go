package train

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
	"bitextmine/train/data"
)

// spare is the number of additional neighbours that are searched, because some are translations.
const spare = 16

// mineNegatives returns for each pair the h pairs of its own two languages whose targets are nearest to its source,
// nearest first, without repetition. A pair is left out if, by any pair of the set, its target is a translation of the
// source or its source is a translation of the target. If almost all neighbours are translations (a source with dozens
// of them), the remaining places are filled with the pairs that follow it in the set. source and target are the vectors
// [set.Len(), dim] of all pairs. A language pair without h wrong targets is a badinput error. progress may be nil.
//
// filter says which of the nearest are false negatives all the same, by their numbers; nil: none. It is not asked about
// pairs that fill places: a pair of noise, whose own target is far away, would leave none.
func mineNegatives(ctx context.Context, searcher index.Searcher, set *data.Set, source, target []float32, dim, h int,
	filter func(row, other int) bool, progress func(fraction float64)) (*data.HardNegatives, error) {
	if h < 1 || h > index.MaxK {
		return nil, badinput.Errorf("%d hard negatives were asked for each pair: take 1 to %d", h, index.MaxK)
	}
	groups := make([][]int32, len(set.Groups))
	for row := range set.Len() {
		groups[set.Group(row)] = append(groups[set.Group(row)], int32(row))
	}
	out := &data.HardNegatives{PerPair: h, Rows: make([]int32, set.Len()*h)}
	done := 0
	for at, rows := range groups {
		g := newGroup(set, rows)
		share := func(fraction float64) {
			if progress != nil {
				progress((float64(done) + fraction*float64(len(rows))) / float64(set.Len()))
			}
		}
		sides := [2]index.Side{unit(source, g.rows, dim), unit(target, g.distinct, dim)}
		found, err := searcher.Search(ctx, sides[0], sides[1], min(index.MaxK, h+spare), share)
		if err != nil {
			return nil, err
		}
		for i, row := range rows {
			near, _ := found.Source.Row(i)
			if !g.choose(out.Rows[int(row)*h:(int(row)+1)*h], i, near, filter) {
				return nil, badinput.Errorf("%s has too few pairs for %d hard negatives each: ask for fewer, or leave the language pair out", set.GroupName(at), h)
			}
		}
		done += len(rows)
	}
	return out, nil
}

// group is the pairs of one language pair. Sentences with the same ids count as one.
type group struct {
	rows           []int32 // [n], indices in the set
	source, target []int32 // [n], numbers of the distinct sentences
	distinct       []int32 // a row of the set for each distinct target
	place          []int32 // index in rows of that row
	pairs          map[[2]int32]bool
}

func newGroup(set *data.Set, rows []int32) *group {
	g := &group{rows: rows, pairs: make(map[[2]int32]bool, len(rows))}
	g.source, _ = number(rows, set.Source)
	g.target, g.place = number(rows, set.Target)
	for _, p := range g.place {
		g.distinct = append(g.distinct, rows[p])
	}
	for i := range rows {
		g.pairs[[2]int32{g.source[i], g.target[i]}] = true
	}
	return g
}

// number numbers the distinct sentences of rows. first has the index of the first occurrence of each.
func number(rows []int32, sentence func(i int) []int32) (numbers, first []int32) {
	known := make(map[string]int32, len(rows))
	var key []byte
	for i, row := range rows {
		key = key[:0]
		for _, id := range sentence(int(row)) {
			key = binary.LittleEndian.AppendUint32(key, uint32(id))
		}
		n, ok := known[string(key)]
		if !ok {
			n = int32(len(first))
			known[string(key)] = n
			first = append(first, int32(i))
		}
		numbers = append(numbers, n)
	}
	return numbers, first
}

// choose fills chosen with rows of the set for pair i: first distinct targets from near, nearest first, then those of
// the pairs that follow it.
func (g *group) choose(chosen []int32, i int, near []int32, filter func(row, other int) bool) bool {
	taken := map[int32]bool{}
	take := func(target int32) bool { // returns whether there are enough
		p := g.place[target]
		wrong := !g.pairs[[2]int32{g.source[i], target}] && !g.pairs[[2]int32{g.source[p], g.target[i]}]
		if wrong && !taken[target] {
			chosen[len(taken)] = g.distinct[target]
			taken[target] = true
		}
		return len(taken) == len(chosen)
	}
	for _, target := range near {
		if target < 0 || filter != nil && filter(int(g.rows[i]), int(g.distinct[target])) {
			continue
		}
		if take(target) {
			return true
		}
	}
	for k := range g.distinct {
		if take((g.target[i] + int32(k)) % int32(len(g.distinct))) {
			return true
		}
	}
	return false
}

// unit returns the given rows of vectors [n, dim], divided by their L2 norms.
func unit(vectors []float32, rows []int32, dim int) index.Side {
	out := make([]float32, 0, len(rows)*dim)
	for _, row := range rows {
		v := vectors[int(row)*dim : (int(row)+1)*dim]
		var square float64
		for _, x := range v {
			square += float64(x) * float64(x)
		}
		scale := float32(1 / math.Sqrt(square))
		for _, x := range v {
			out = append(out, x*scale)
		}
	}
	return index.Side{Vectors: embedding.FromFloat32(out, dim)}
}

// mineNegatives finds the hard negatives that the objective needs: with the teacher if there is one, otherwise with the
// encoder at the start, so that a resumed training has the same ones. Those that are found again are found by the
// encoder, and the teacher says which of them are none.
func (p *parts) mineNegatives(ctx context.Context, again bool) (_ *data.HardNegatives, err error) {
	needs := p.config.Objective.Needs()
	if needs.Negatives == 0 {
		return nil, nil
	}
	p.options.report("find hard negatives")
	var taught, own vectors
	if p.teacher != nil {
		if taught, err = p.vectorsOf(ctx, p.taught, p.teacher.Dim()); err != nil {
			return nil, err
		}
	}
	by := taught
	if p.teacher == nil || again {
		if own, err = p.vectorsOf(ctx, p.ours, p.encoder.Dim()); err != nil {
			return nil, err
		}
		if by = own; p.teacher == nil {
			taught = own
		}
	}
	searcher := p.options.Searcher
	if searcher == nil {
		if searcher, err = exact.Open(exact.Options{}); err != nil {
			return nil, err
		}
	}
	var filter func(row, other int) bool
	if needs.Filter > 0 {
		filter = func(row, other int) bool {
			return taught.cosine(row, other) > needs.Filter*taught.cosine(row, row)
		}
	}
	tenths := 0
	return mineNegatives(ctx, searcher, p.set, by.source, by.target, by.dim, needs.Negatives, filter, func(fraction float64) {
		if now := int(10 * fraction); now > tenths { // it can take as long as many steps
			tenths = now
			p.options.report(fmt.Sprintf("find hard negatives: %d%%", 10*now))
		}
	})
}

// findAgain replaces the hard negatives before a step whose number the objective names.
func (t *trainer) findAgain(ctx context.Context) error {
	every, step := t.config.Objective.Needs().Every, t.state.Step
	if every == 0 || step == 0 || step%every != 0 {
		return nil
	}
	negatives, err := t.mineNegatives(ctx, true)
	if err != nil {
		return err
	}
	return t.batches.Replace(negatives)
}

// vectors holds the vectors of sources and of targets [pairs, dim].
type vectors struct {
	source, target []float32
	dim            int
}

// cosine returns the cosine of a pair's source to a pair's target.
func (v vectors) cosine(row, other int) float64 {
	x, y := v.source[row*v.dim:][:v.dim], v.target[other*v.dim:][:v.dim]
	lengths := math.Sqrt(float64(embedding.Dot(x, x)) * float64(embedding.Dot(y, y)))
	return float64(embedding.Dot(x, y)) / max(lengths, math.SmallestNonzeroFloat32)
}

func (p *parts) vectorsOf(ctx context.Context, side func(context.Context, bool) ([]float32, error), dim int) (v vectors, err error) {
	v.dim = dim
	if v.source, err = side(ctx, false); err == nil {
		v.target, err = side(ctx, true)
	}
	return v, err
}

// ours returns the vectors of one side of all pairs that the encoder gives as it is.
func (p *parts) ours(ctx context.Context, target bool) ([]float32, error) {
	dim := p.encoder.Dim()
	out := make([]float32, p.set.Len()*dim)
	for part := range p.set.Parts(target, devBatch) {
		vectors, err := p.encoder.Forward(ctx, part.Side, 0)
		if err != nil {
			return nil, err
		}
		for i, row := range part.Rows {
			copy(out[row*dim:(row+1)*dim], vectors[i*dim:])
		}
	}
	return out, nil
}

// taught returns the teacher's vectors of one side of all pairs.
func (p *parts) taught(ctx context.Context, target bool) ([]float32, error) {
	texts, languages := make([]string, p.set.Len()), make([]string, p.set.Len())
	for i := range texts {
		pair := p.set.Groups[p.set.Group(i)]
		source, other := p.set.Texts(i)
		texts[i], languages[i] = source, p.set.Languages[pair.Source]
		if target {
			texts[i], languages[i] = other, p.set.Languages[pair.Target]
		}
	}
	return p.teacher.Encode(ctx, languages, texts)
}
