package decide

import (
	"context"
	"errors"
	"maps"
	"slices"

	"bitextmine/corpus"
	corpusshard "bitextmine/corpus/shard"
	"bitextmine/filter"
	"bitextmine/filter/language"
	"bitextmine/mine"
	"bitextmine/pipeline/view"
)

// copyCosine is the least cosine of a sentence and its copy on the other side, whatever the encoder: one that marks the
// language of a sentence may give less, and then the copy stays.
const copyCosine = 0.99

// leavesCopiesOut says whether text that was not translated is rejected.
func leavesCopiesOut(p *view.Pair) bool {
	codes := p.Codes()
	return !p.Plan.Settings.KeepCopies && !language.Near(codes[0], codes[1])
}

// WithoutCopies takes text that was not translated out of the neighbours of both sides, if the settings have it
// rejected, and returns it: pairs of sentence numbers, ascending. As a neighbour nothing is nearer, so that a
// translation would seem to be the second best.
func WithoutCopies(ctx context.Context, p *view.Pair, sides [2]mine.Neighbours) (copies [][2]int32, err error) {
	if !leavesCopiesOut(p) {
		return nil, nil
	}
	var pairs [][2]int32
	for side, neighbours := range sides {
		for i := range int32(neighbours.Len()) {
			ids, cosines := neighbours.Row(int(i))
			for j, id := range ids {
				if id == mine.None || cosines[j] < copyCosine {
					break
				}
				pairs = append(pairs, [2][2]int32{{i, id}, {id, i}}[side])
			}
		}
	}
	slices.SortFunc(pairs, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	if copies, err = copied(ctx, p, slices.Compact(pairs)); err != nil {
		return nil, err
	}
	for _, pair := range copies {
		sides[0].Drop(int(pair[0]), pair[1])
		sides[1].Drop(int(pair[1]), pair[0])
	}
	return copies, nil
}

// copied returns those of some pairs whose texts are copies, in their order.
func copied(ctx context.Context, p *view.Pair, pairs [][2]int32) (copies [][2]int32, err error) {
	for chunk := range slices.Chunk(pairs, textChunk) {
		texts := make([][2]string, len(chunk))
		err := p.RowsOfPairs(ctx, chunk, func(at, side int, row corpusshard.Row) { texts[at][side] = corpus.Normalise(row.Text) })
		if err != nil {
			return nil, err
		}
		for i, pair := range chunk {
			if filter.Copied(texts[i][0], texts[i][1]) {
				copies = append(copies, pair)
			}
		}
	}
	return copies, nil
}

// copiesOf returns the pairs that WithoutCopies takes out.
func copiesOf(ctx context.Context, p *view.Pair) (copies [][2]int32, err error) {
	if !leavesCopiesOut(p) {
		return nil, nil
	}
	sides, err := neighboursOf(ctx, p)
	if err != nil {
		return nil, err
	}
	return WithoutCopies(ctx, p, sides)
}

// LeftOut is how many of the pairs with a label are among those that WithoutCopies takes out where a scorer decides: it
// does not see them, whatever people decided.
func LeftOut(ctx context.Context, p *view.Pair, labels map[[2]int32]bool) (n int, err error) {
	if !p.Plan.Settings.Scored() || !leavesCopiesOut(p) {
		return 0, nil
	}
	copies, err := copied(ctx, p, slices.Collect(maps.Keys(labels)))
	if err != nil {
		return 0, err
	}
	vectors := p.OpenVectors()
	defer func() { err = errors.Join(err, vectors.Close()) }()
	for _, pair := range copies {
		cosine, err := vectors.Cosine(ctx, pair[0], pair[1])
		if err != nil {
			return 0, err
		}
		if cosine >= copyCosine {
			n++
		}
	}
	return n, nil
}
