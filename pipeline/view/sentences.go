package view

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"golang.org/x/sync/errgroup"

	"bitextmine/corpus"
	"bitextmine/encode/embedding"
	"bitextmine/internal/heaps"
	"bitextmine/internal/spill"
	"bitextmine/pipeline/plan"
)

// Numbered numbers the distinct sentences of one language in key order, so that results do not show how they were
// sharded.
type Numbered struct {
	Rows  [][]int32 // [shard][row] the sentence's number
	First []Place   // first occurrence of each sentence number: its provenance
	// InSet is the place of each sentence, by number, among the rows of the language's shard set laid end to end: the
	// first of them that has it.
	InSet []int32
}

// Place is a row of a shard.
type Place struct {
	Shard int32
	Row   uint32
}

// Len is the number of distinct sentences.
func (s *Numbered) Len() int { return len(s.First) }

// IsFirst says whether a row of a shard is the first occurrence of its sentence.
func (s *Numbered) IsFirst(shard, row int) bool {
	return s.First[s.Rows[shard][row]] == (Place{int32(shard), uint32(row)})
}

// EndToEnd returns the numbers of the rows of a shard set, laid end to end, in room.
func (s *Numbered) EndToEnd(room *spill.Arena, shards []plan.Shard, set plan.ShardSet) ([]int32, error) {
	laid, err := spill.Make[int32](room, set.Rows(shards))
	if err != nil {
		return nil, err
	}
	at := 0
	for _, rows := range s.ofSet(shards, set) {
		at += copy(laid[at:], rows)
	}
	return laid, nil
}

// ofSet returns the numbers of the rows of every shard of a set, in its order.
func (s *Numbered) ofSet(shards []plan.Shard, set plan.ShardSet) [][]int32 {
	byVector := map[string]int{}
	for i, shard := range shards {
		byVector[shard.Vector] = i
	}
	rows := make([][]int32, len(set))
	for i, vector := range set {
		rows[i] = s.Rows[byVector[vector]]
	}
	return rows
}

// passRows is how many rows are sorted at a time, about.
const passRows = 512 << 10

// newNumbered numbers the sentences of shards, given the keys of each shard's rows. The numbers are in room. With many
// rows it asks for the keys several times and sorts a range of them at a time.
func newNumbered(room *spill.Arena, shards []plan.Shard, keysOf func(*plan.Shard) ([]corpus.Key, error)) (*Numbered, error) {
	return number(room, shards, keysOf, passRows)
}

func number(
	room *spill.Arena, shards []plan.Shard, keysOf func(*plan.Shard) ([]corpus.Key, error), passRows int,
) (*Numbered, error) {
	rows := (&plan.Language{Shards: shards}).Rows()
	all, err := spill.Make[int32](room, rows)
	if err != nil {
		return nil, err
	}
	s := &Numbered{Rows: make([][]int32, len(shards))}
	if s.First, err = spill.Make[Place](room, rows); err != nil {
		return nil, err
	}
	s.First = s.First[:0]
	for i := range shards {
		s.Rows[i], all = all[:shards[i].Rows:shards[i].Rows], all[shards[i].Rows:]
	}
	var some []occurrence
	passes := rows/passRows + 1
	for pass := range passes {
		some = some[:0]
		for i := range shards {
			keys, err := keysOf(&shards[i])
			if err != nil {
				return nil, err
			}
			some = appendOccurrences(some, i, keys, func(group int) bool { return group*passes>>16 == pass })
		}
		s.number(byKey(some))
	}
	if s.InSet, err = spill.Make[int32](room, len(s.First)); err != nil {
		return nil, err
	}
	for i := range s.InSet {
		s.InSet[i] = -1
	}
	at := int32(0)
	for _, rows := range s.ofSet(shards, plan.SetOf(shards)) {
		for _, n := range rows {
			if s.InSet[n] < 0 {
				s.InSet[n] = at
			}
			at++
		}
	}
	return s, nil
}

// number numbers the sentences of occurrences, which are in the order of their keys and after those before.
func (s *Numbered) number(some []occurrence) {
	for i, o := range some {
		if i == 0 || o.compareKey(some[i-1]) != 0 {
			s.First = append(s.First, o.Place)
		}
		s.Rows[o.Shard][o.Row] = int32(len(s.First) - 1)
	}
}

// KeyOrder sets each row's place in the order of the rows' keys.
func KeyOrder(keys []corpus.Key, order []int32) {
	for place, o := range byKey(appendOccurrences(make([]occurrence, 0, len(keys)), 0, keys, func(int) bool { return true })) {
		order[o.Row] = int32(place)
	}
}

// occurrence is a sentence somewhere: the head of its key decides almost every comparison.
type occurrence struct {
	head, tail uint64 // halves of the key, big-endian
	Place
}

func (o occurrence) compareKey(p occurrence) int {
	return cmp.Or(cmp.Compare(o.head, p.head), cmp.Compare(o.tail, p.tail))
}

// group is the first 16 bits of an occurrence's key.
func (o occurrence) group() int { return int(o.head >> 48) }

// appendOccurrences appends the rows of a shard, whose keys are given, that are of some groups.
func appendOccurrences(to []occurrence, shard int, keys []corpus.Key, wanted func(group int) bool) []occurrence {
	for row, key := range keys {
		o := occurrence{binary.BigEndian.Uint64(key[:8]), binary.BigEndian.Uint64(key[8:]), Place{int32(shard), uint32(row)}}
		if wanted(o.group()) {
			to = append(to, o)
		}
	}
	return to
}

// byKey returns the occurrences in the order of (key, shard, row), given in that of (shard, row). Keys are hashes.
func byKey(all []occurrence) []occurrence {
	sorted := make([]occurrence, len(all))
	heaps.Sort(sorted, func(i int) occurrence { return all[i] }, func(o occurrence) uint16 { return uint16(o.group()) },
		func(heap []occurrence) {
			slices.SortFunc(heap, func(a, b occurrence) int {
				return cmp.Or(a.compareKey(b), cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Row, b.Row))
			})
		})
	return sorted
}

// Numbers returns the numbers of a side's sentences, given by their keys; -1 is a sentence that the run's text lacks.
func (p *Pair) Numbers(ctx context.Context, side int, keys []corpus.Key) ([]int32, error) {
	found := map[corpus.Key]int32{}
	for _, key := range keys {
		found[key] = -1
	}
	shards := p.Language(side).Shards
	for shard := range shards {
		rows, err := p.Keys(ctx, &shards[shard])
		if err != nil {
			return nil, err
		}
		for row, key := range rows {
			if _, ok := found[key]; ok {
				found[key] = p.Sentences[side].Rows[shard][row]
			}
		}
	}
	out := make([]int32, len(keys))
	for i, key := range keys {
		out[i] = found[key]
	}
	return out, nil
}

// OpenedVectors are the embedding files of a pair, each opened when a sentence in it is asked for.
type OpenedVectors struct {
	pair  *Pair
	files [2]map[int32]*embedding.File // open files of each shard
	rows  [2][]float32                 // [dim] of the last pair
}

// OpenVectors opens the pair's embedding files as they are needed.
func (p *Pair) OpenVectors() *OpenedVectors {
	dim := p.Plan.Settings.Dim
	return &OpenedVectors{
		pair:  p,
		files: [2]map[int32]*embedding.File{{}, {}},
		rows:  [2][]float32{make([]float32, dim), make([]float32, dim)},
	}
}

// Cosine returns the cosine of two sentences, given by their numbers, as a search computes it.
func (v *OpenedVectors) Cosine(ctx context.Context, source, target int32) (float32, error) {
	for side, number := range [2]int32{source, target} {
		first := v.pair.Sentences[side].First[number]
		file := v.files[side][first.Shard]
		if file == nil {
			var err error
			if file, err = v.pair.Vectors(ctx, &v.pair.Language(side).Shards[first.Shard]); err != nil {
				return 0, err
			}
			v.files[side][first.Shard] = file
		}
		if file.Dim != len(v.rows[side]) {
			return 0, errors.New("a side has vectors of another length than the plan says; give mine run again")
		}
		file.Float32(v.rows[side], int(first.Row), int(first.Row)+1)
	}
	return embedding.Dot(v.rows[0], v.rows[1]), nil
}

// Close closes the files.
func (v *OpenedVectors) Close() (err error) {
	for _, files := range v.files {
		for _, file := range files {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}

// step is how many texts a goroutine takes at once.
const step = 4096

// Parallel calls do with every number below n, until the context ends.
func Parallel(ctx context.Context, threads, n int, do func(i int)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, threads))
	for begin := 0; begin < n; begin += step {
		group.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			for i := begin; i < min(begin+step, n); i++ {
				do(i)
			}
			return nil
		})
	}
	return group.Wait()
}
