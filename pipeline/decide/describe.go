package decide

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/internal/spill"
	"bitextmine/mine"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/view"
	"bitextmine/score"
	"bitextmine/score/feature"
)

// describeChunk is how many texts are in memory at once.
const describeChunk = 16 << 10

// Describe reads the texts of a side's distinct sentences, each from its first occurrence, into what features need of
// them.
func Describe(ctx context.Context, p *view.Pair, side int, into *score.SideBuilder) error {
	for shard := range p.Language(side).Shards {
		err := describe(ctx, p.Files, &p.Language(side).Shards[shard], into, func(each eachText) error {
			return p.EachText(ctx, side, shard, each)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// DescribeShard reads the texts of a shard's rows into what features need of them: row i is sentence i.
func DescribeShard(ctx context.Context, f *view.Files, s *plan.Shard, into *score.SideBuilder) error {
	return describe(ctx, f, s, into, func(each eachText) error {
		return f.EachRow(ctx, s, func(row uint32, text string) error { return each(row, int32(row), text) })
	})
}

// eachText takes a row of a shard with the sentence's number.
type eachText = func(row uint32, number int32, text string) error

// describe reads the texts of a shard that read yields.
func describe(ctx context.Context, f *view.Files, s *plan.Shard, into *score.SideBuilder, read func(each eachText) error) (err error) {
	vectors, err := f.Output(ctx, view.Encode, s.Vector)
	if err != nil {
		return err
	}
	known, err := encode.OpenTokenFile(vectors.Path(view.EmbeddingFile), s.Rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, known.Close()) }()
	d := describing{into: into, known: known}
	err = read(func(row uint32, number int32, text string) error {
		d.rows, d.numbers, d.texts = append(d.rows, row), append(d.numbers, number), append(d.texts, text)
		if len(d.texts) < describeChunk {
			return nil
		}
		return d.flush(ctx)
	})
	if err == nil {
		err = d.flush(ctx)
	}
	return err
}

// describing is some sentences of a shard on their way into a side.
type describing struct {
	into    *score.SideBuilder
	known   *encode.TokenFile // has the tokens of the shard's rows; nil: none
	rows    []uint32
	numbers []int32
	texts   []string
}

func (d *describing) flush(ctx context.Context) (err error) {
	if d.known != nil {
		err = d.into.AddTokenized(ctx, d.numbers, d.texts, d.rows, d.known.Of)
	} else {
		err = d.into.Add(ctx, d.numbers, d.texts)
	}
	d.rows, d.numbers, d.texts = d.rows[:0], d.numbers[:0], d.texts[:0]
	return err
}

// Described has what the features of a pair's candidates are computed from: the neighbours of both sides and the
// descriptions of their shards.
type Described struct {
	pair   *view.Pair
	lists  *mine.Lists
	copies [][2]int32 // pairs that are left out, as the text was not translated, by source, then target
	scored *mine.Scored
	sides  [2]*feature.Side
}

// OpenDescribed opens the descriptions of a pair, which is closed with them. Their features are those that the plan's
// scorer weighs. The descriptions were made with the tokens, which may be nil.
func OpenDescribed(ctx context.Context, p *view.Pair, tokens score.Tokenizer) (d *Described, err error) {
	d = &Described{pair: p}
	defer func() {
		if err != nil {
			d, err = nil, errors.Join(err, d.Close())
		}
	}()
	scorer, err := planScorer(p)
	if err != nil {
		return d, err
	}
	if d.lists, d.copies, err = ScoredLists(ctx, p, scorer.K); err != nil {
		return d, err
	}
	if d.scored, err = d.lists.Scored(p.Room()); err != nil {
		return d, err
	}
	dim := 0
	if tokens != nil {
		dim = tokens.Dim()
	}
	for side := range d.sides {
		if d.sides[side], err = joined(ctx, p, side, dim); err != nil {
			return d, err
		}
	}
	return d, score.ShareTable(ctx, tokens, d.sides[0], d.sides[1])
}

// Tokens opens the token vectors that a scorer weighs; nil: it weighs none, or the model has none.
func Tokens(scorer *score.Scorer, model *model.Model, options encode.Options) (score.Tokenizer, func() error, error) {
	if !scorer.Tokens {
		return nil, func() error { return nil }, nil
	}
	return score.OpenTokens(model, options)
}

// joined opens the descriptions of a side's shards.
func joined(ctx context.Context, p *view.Pair, side, dim int) (_ *feature.Side, err error) {
	shards := p.Language(side).Shards
	parts := make([]*feature.Side, 0, len(shards))
	defer func() {
		if err != nil {
			for _, part := range parts {
				err = errors.Join(err, part.Close())
			}
		}
	}()
	for i := range shards {
		out, err := p.Output(ctx, view.Describe, shards[i].Described)
		if err != nil {
			return nil, err
		}
		part, err := feature.OpenSide(out.Path(view.DescriptionFile), shards[i].Rows)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	numbered := p.Sentences[side]
	at := func(i int32) (part, row int) { return int(numbered.First[i].Shard), int(numbered.First[i].Row) }
	return feature.Join(parts, numbered.Len(), dim, at, func(yield func(part, row int) bool) {
		for shard := range numbered.Rows {
			for row := range numbered.Rows[shard] {
				if !numbered.IsFirst(shard, row) && !yield(shard, row) {
					return
				}
			}
		}
	})
}

// Candidates returns the candidates of the source sentences whose first occurrence is in a shard, with their features,
// by source, then target. The candidates are in room, and features that do not fit in its memory are in a file.
func (d *Described) Candidates(
	ctx context.Context, shard int, room *spill.Arena, threads int,
) (candidates []mine.Candidate, values *feature.Table, err error) {
	sources, err := d.sources(shard, room)
	if err != nil {
		return nil, nil, err
	}
	all := spill.NewGrowing[mine.Candidate](room)
	defer func() { err = errors.Join(err, all.Close()) }()
	parts := make([][]mine.Candidate, max(1, threads))
	for chunk := range slices.Chunk(sources, describeChunk) {
		var wait sync.WaitGroup
		for i := range parts {
			wait.Go(func() {
				parts[i] = parts[i][:0]
				for _, x := range chunk[len(chunk)*i/len(parts) : len(chunk)*(i+1)/len(parts)] {
					parts[i] = d.scored.Append(parts[i], x)
				}
			})
		}
		wait.Wait()
		err := ctx.Err()
		for _, found := range parts {
			err = errors.Join(err, all.Append(found))
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if candidates, err = all.List(); err != nil {
		return nil, nil, err
	}
	values, err = feature.Compute(ctx, room.Space, d.lists, candidates, d.sides[0], d.sides[1], threads)
	return candidates, values, err
}

// Copies returns the pairs of the source sentences whose first occurrence is in a shard that are no candidates, as the
// text was not translated.
func (d *Described) Copies(shard int) (copies [][2]int32) {
	for _, pair := range d.copies {
		if int(d.pair.Sentences[0].First[pair[0]].Shard) == shard {
			copies = append(copies, pair)
		}
	}
	return copies
}

// sources returns the sentences whose first occurrence is in a shard, ascending.
func (d *Described) sources(shard int, room *spill.Arena) ([]int32, error) {
	numbered := d.pair.Sentences[0]
	sources, err := room.Ints(len(numbered.Rows[shard]))
	sources = sources[:0]
	if err != nil {
		return nil, err
	}
	for row, number := range numbered.Rows[shard] {
		if numbered.IsFirst(shard, row) {
			sources = append(sources, number)
		}
	}
	slices.Sort(sources)
	return sources, nil
}

// Close closes the descriptions and the pair.
func (d *Described) Close() error {
	err := d.pair.Close()
	for _, side := range d.sides {
		if side != nil {
			err = errors.Join(err, side.Close())
		}
	}
	return err
}

// candidatesOf reads the candidates of a pair that its source's shards have, with their features.
func candidatesOf(ctx context.Context, p *view.Pair) (all []mine.Candidate, values *feature.Table, err error) {
	keys := p.Plan.Pairs[p.Index].Features
	if len(keys) != len(p.Language(0).Shards) {
		return nil, nil, badinput.Errorf("the plan does not name the features of its candidates: make it again with mine run")
	}
	paths, n := make([]string, len(keys)), 0
	for i, key := range keys {
		out, err := p.Output(ctx, view.Features, key)
		if err != nil {
			return nil, nil, err
		}
		var info struct{ Candidates int }
		if err := json.Unmarshal(out.Info, &info); err != nil {
			return nil, nil, fmt.Errorf("read the record of %s: %w", out.Dir, err)
		}
		paths[i], n = out.Path(view.CandidatesFile), n+info.Candidates
	}
	if all, err = spill.Make[mine.Candidate](p.Room(), n); err != nil {
		return nil, nil, err
	}
	all, values = all[:0], &feature.Table{}
	for _, path := range paths {
		var some *feature.Table
		if all, some, err = feature.AppendCandidates(all, path); err != nil {
			return nil, nil, errors.Join(err, values.Close())
		}
		values.Join(some)
	}
	return all, values, nil
}
