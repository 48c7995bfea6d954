// Package view reads what a run has computed: sentences, vectors, neighbour lists, candidates and what became of them.
//
// Files is access to the outputs of a plan's tasks in a store; stages read their inputs through it. Pair puts the
// outputs of one pair of languages together by sentence number. Run is a finished run, opened by its output directory
// or its bitext file. Nothing here writes, and nothing is encoded again that the store has.
package view

import (
	"context"
	"errors"
	"iter"

	"bitextmine/corpus"
	"bitextmine/corpus/shard"
	"bitextmine/corpus/surface"
	"bitextmine/encode/embedding"
	"bitextmine/internal/spill"
	"bitextmine/mine"
	"bitextmine/pipeline/plan"
)

// Pair has the outputs of a plan for one pair of languages. Sentences go by their numbers, see Sentences.
type Pair struct {
	*Files
	Index     int // number among the plan's pairs
	Sentences [2]*Numbered
	Space     spill.Space // holds what deciding does not keep in memory, which Close frees
	room      spill.Arena
}

// Room has lists of a pair's candidates and sentences, which are freed with the pair.
func (p *Pair) Room() *spill.Arena {
	p.room.Space = p.Space
	return &p.room
}

// Pair numbers the sentences of one of the plan's pairs.
func (f *Files) Pair(index int) (*Pair, error) {
	p := &Pair{Files: f, Index: index}
	for side := range p.Sentences {
		var err error
		if p.Sentences[side], err = f.Sentences(f.Plan.LanguageOf(index, side)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Close frees what deciding did not keep in memory.
func (p *Pair) Close() error { return p.room.Close() }

// Language returns the language of a side.
func (p *Pair) Language(side int) *plan.Language { return p.Plan.Side(p.Index, side) }

// Codes are the codes of both languages.
func (p *Pair) Codes() [2]string { return [2]string{p.Language(0).Code, p.Language(1).Code} }

// Neighbours puts a side's merged neighbours together, [sentences of the side, k], in the pair's room. A sentence that
// stands in several shards has the same list in each.
func (p *Pair) Neighbours(ctx context.Context, side int) (mine.Neighbours, error) {
	own, partners := p.Sentences[side], p.Sentences[1-side]
	other := p.Language(1 - side).Shards
	all, err := mine.NewNeighboursIn(p.Room(), own.Len(), p.Plan.Settings.K)
	if err != nil {
		return all, err
	}
	laid, err := partners.EndToEnd(p.Room(), other, plan.SetOf(other))
	if err != nil {
		return all, err
	}
	for shard, key := range p.Plan.Pairs[p.Index].Merges[side] {
		if err := ctx.Err(); err != nil {
			return all, err
		}
		lists, _, err := p.Lists(ctx, key, p.Language(side).Shards[shard].Rows, len(laid))
		if err != nil {
			return all, err
		}
		for row, number := range own.Rows[shard] {
			if !own.IsFirst(shard, row) {
				continue
			}
			from, cosines := lists.Row(row)
			ids, intoCosines := all.Row(int(number))
			copy(intoCosines, cosines)
			for j, at := range from {
				if at != mine.None {
					ids[j] = laid[at]
				}
			}
		}
	}
	return all, nil
}

// Texts returns a side's distinct sentences, normalised, by number.
func (p *Pair) Texts(ctx context.Context, side int) ([]string, error) {
	texts := make([]string, p.Sentences[side].Len())
	for shard := range p.Language(side).Shards {
		err := p.EachText(ctx, side, shard, func(_ uint32, number int32, text string) error {
			texts[number] = text
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// EachText calls each with the sentences whose first occurrence is in shard n.
func (p *Pair) EachText(ctx context.Context, side, n int, each func(row uint32, number int32, text string) error) error {
	numbered := p.Sentences[side]
	return p.EachRow(ctx, &p.Language(side).Shards[n], func(row uint32, text string) error {
		if !numbered.IsFirst(n, int(row)) {
			return nil
		}
		return each(row, numbered.Rows[n][row], text)
	})
}

// EachRow calls each with the sentences of a shard, normalised.
func (f *Files) EachRow(ctx context.Context, s *plan.Shard, each func(row uint32, text string) error) (err error) {
	reader, err := f.OpenShard(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	row := uint32(0)
	for text, err := range Normalised(reader.Rows()) {
		if err == nil {
			err = each(row, text)
		}
		if err != nil {
			return err
		}
		row++
	}
	return nil
}

// Normalised yields what a sentence's identity is hashed from: equal keys have equal vectors, whatever their original
// text.
func Normalised(rows iter.Seq2[shard.Row, error]) iter.Seq2[string, error] {
	return each(rows, corpus.Normalise)
}

// Calm yields what encoders get of sentences of a language.
func Calm(rows iter.Seq2[shard.Row, error], language string) iter.Seq2[string, error] {
	return each(rows, func(text string) string {
		calm, _ := surface.Calm(corpus.Normalise(text), language)
		return calm
	})
}

func each(rows iter.Seq2[shard.Row, error], of func(text string) string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for row, err := range rows {
			if !yield(of(row.Text), err) {
				return
			}
		}
	}
}

// AllVectors copies the vectors of a side's distinct sentences together, [sentences, dim] by number.
func (p *Pair) AllVectors(ctx context.Context, side int) (all embedding.Matrix, err error) {
	all = embedding.Matrix{N: p.Sentences[side].Len(), Dim: p.Plan.Settings.Dim}
	for shard := range p.Language(side).Shards {
		if err := p.copyVectors(ctx, side, shard, &all); err != nil {
			return all, err
		}
	}
	return all, nil
}

func (p *Pair) copyVectors(ctx context.Context, side, shard int, all *embedding.Matrix) (err error) {
	file, err := p.Vectors(ctx, &p.Language(side).Shards[shard])
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if file.F16 != nil && all.F16 == nil {
		all.F16 = make([]uint16, all.N*all.Dim)
	} else if file.F32 != nil && all.F32 == nil {
		all.F32 = make([]float32, all.N*all.Dim)
	}
	for row, number := range p.Sentences[side].Rows[shard] {
		if !p.Sentences[side].IsFirst(shard, row) {
			continue
		}
		if file.F16 != nil {
			copy(all.F16[int(number)*all.Dim:][:all.Dim], file.F16[row*all.Dim:])
		} else {
			copy(all.F32[int(number)*all.Dim:][:all.Dim], file.F32[row*all.Dim:])
		}
	}
	return nil
}
