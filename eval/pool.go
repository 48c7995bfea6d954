package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"bitextmine/corpus"
	"bitextmine/corpus/surface"
	"bitextmine/encode/embedding"
	"bitextmine/eval/testset"
	"bitextmine/index"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
)

// Pool is the distinct sentences of two languages with their neighbourhoods: what a margin is measured against.
// Sentences are the same when their normalised texts are, as in a run, and are encoded normalised. Vectors are in files
// without names, so that memory holds a key, a place and a list of each sentence.
type Pool struct {
	Lists *mine.Lists // lists of the rows that add returned; nil before Search
	sides [2]*poolSide
}

// PoolOptions say how a pool is made.
type PoolOptions struct {
	Languages [2]string
	Dir       string // folder of the vectors
	K         int
	MaxMemory int64 // bytes that the sentences may take in memory; 0: any number
}

// poolSide is one language of a pool.
type poolSide struct {
	language string
	rows     map[corpus.Key]int32
	pending  []string // the last rows, which are not encoded yet
	bytes    int      // their size
	order    []int32  // place of every row in the order of the keys; nil before Search
	vectors  *embedding.Temporary
	file     *embedding.File // nil: not all rows are known
}

// A side is encoded when so many sentences or bytes are pending.
const (
	pendingRows  = 16 << 10
	pendingBytes = 16 << 20
)

// sentenceBytes is the memory of a sentence while neighbours are searched, less its list, with the garbage of before a
// collection: its key in a map that grows, its place, and the tables of package index.
const sentenceBytes = 200

// pairBytes is the memory that the caller of add keeps for a call: its row, in a slice that grows.
const pairBytes = 10

// checkEvery is the number of calls of add between two looks at the memory.
const checkEvery = 1024

// NewPool makes a pool of the sentences that read adds. add returns the row of a sentence of a side, the same one where
// it repeats; -1 where nothing is left of the text once it is normalised. A pool that would take too much memory is a
// badinput error. The caller closes the pool.
func NewPool(
	ctx context.Context, encoder testset.Encoder, o PoolOptions, read func(add func(side int, text string) (int32, error)) error,
) (p *Pool, err error) {
	p = &Pool{}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	for side, language := range o.Languages {
		p.sides[side] = &poolSide{language: language, rows: map[corpus.Key]int32{}}
		if p.sides[side].vectors, err = embedding.NewTemporary(o.Dir, encoder.Dim()); err != nil {
			return p, err
		}
	}
	added := int64(0)
	err = read(func(side int, text string) (int32, error) {
		added++
		row, err := p.sides[side].add(ctx, encoder, text)
		if err == nil && added%checkEvery == 0 {
			err = p.fits(o, added)
		}
		return row, err
	})
	for _, s := range p.sides {
		if err == nil {
			err = s.end(ctx, encoder)
		}
	}
	return p, err
}

// fits checks that the pool fits into its memory.
func (p *Pool) fits(o PoolOptions, added int64) error {
	sentences := int64(len(p.sides[0].rows) + len(p.sides[1].rows))
	need := added*pairBytes + sentences*(sentenceBytes+int64(8*o.K+4))
	if o.MaxMemory == 0 || need <= o.MaxMemory {
		return nil
	}
	return badinput.Errorf("%d different sentences of %d are read, and take %d MiB where %d are allowed: raise --max-memory, or score a part of the pairs at a time",
		sentences, added, need>>20, o.MaxMemory>>20)
}

func (s *poolSide) add(ctx context.Context, encoder testset.Encoder, text string) (row int32, err error) {
	normal := corpus.Normalise(text)
	if normal == "" {
		return -1, nil
	}
	key := corpus.KeyOf(normal)
	if row, known := s.rows[key]; known {
		return row, nil
	}
	row = int32(len(s.rows))
	s.rows[key] = row
	calm, _ := surface.Calm(normal, s.language)
	s.pending, s.bytes = append(s.pending, calm), s.bytes+len(calm)
	if len(s.pending) == pendingRows || s.bytes >= pendingBytes {
		err = s.encode(ctx, encoder)
	}
	return row, err
}

// encode stores the vectors of the pending sentences.
func (s *poolSide) encode(ctx context.Context, encoder testset.Encoder) error {
	rows := make([]float32, len(s.pending)*encoder.Dim())
	if err := encoder.Encode(ctx, s.language, s.pending, rows); err != nil {
		return fmt.Errorf("encode %d %s sentences: %w", len(s.pending), s.language, err)
	}
	clear(s.pending)
	s.pending, s.bytes = s.pending[:0], 0
	return s.vectors.Append(rows)
}

// end maps the vectors.
func (s *poolSide) end(ctx context.Context, encoder testset.Encoder) (err error) {
	if len(s.rows) == 0 {
		return badinput.Errorf("no %s text holds a sentence: check the files and their columns", s.language)
	}
	if len(s.pending) > 0 {
		if err := s.encode(ctx, encoder); err != nil {
			return err
		}
	}
	s.pending = nil
	s.file, err = s.vectors.File()
	return err
}

// sort gives every row its place in the order of the keys, which are not needed any more.
func (s *poolSide) sort() {
	type keyed struct {
		key corpus.Key
		row int32
	}
	all := make([]keyed, 0, len(s.rows))
	for key, row := range s.rows {
		all = append(all, keyed{key, row})
	}
	s.rows = nil
	slices.SortFunc(all, func(a, b keyed) int { return a.key.Compare(b.key) })
	s.order = make([]int32, len(all))
	for i, one := range all {
		s.order[one.row] = int32(i)
	}
}

// Len returns the numbers of distinct sentences.
func (p *Pool) Len() (source, target int) { return p.sides[0].file.N, p.sides[1].file.N }

// Search finds the neighbourhoods.
func (p *Pool) Search(ctx context.Context, searcher index.Searcher, k int, margin mine.Margin) error {
	var sides [2]index.Side
	for i, s := range p.sides {
		if s.order == nil {
			s.sort()
		}
		sides[i] = index.Side{Vectors: s.file.Matrix, Order: s.order}
	}
	found, err := searcher.Search(ctx, sides[0], sides[1], k, nil)
	if err == nil {
		p.Lists, err = mine.NewLists(found.Source, found.Target, k, margin)
	}
	return err
}

// Score scores a pair of rows.
func (p *Pool) Score(source, target int32) mine.Candidate {
	return p.Lists.Candidate(source, target, rowCosine(p.sides[0].file.Matrix, source, p.sides[1].file.Matrix, target))
}

// Close frees the vectors.
func (p *Pool) Close() error {
	var all []error
	for _, s := range p.sides {
		if s == nil {
			continue
		}
		if s.file != nil {
			all = append(all, s.file.Close())
		}
		if s.vectors != nil {
			all = append(all, s.vectors.Close())
		}
	}
	return errors.Join(all...)
}
