package score

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"bitextmine/corpus/surface"
	"bitextmine/encode/tokenizer"
	"bitextmine/score/feature"
)

// chunk is the number of sentences that are described at a time.
const chunk = 4096

// SideBuilder collects the input of the features for one side.
type SideBuilder struct {
	language string
	threads  int
	tokens   Tokenizer // nil if there is none
	surface  feature.Surfaces
	read     []surface.Features // of the sentences that are being added
	rows     []int32            // token ids, or rows of vectors if those depend on the sentence
	begins   []int
	ends     []int
	vectors  feature.TokenVectors // contextual
	ids      []int32              // of vectors
	numbers  []int32              // see Renumber
	names    nameList
}

// NewSide returns a builder for a side of n sentences of one language. tokens may be nil.
func NewSide(language string, n int, tokens Tokenizer, threads int) *SideBuilder {
	s := &SideBuilder{
		language: language, threads: max(1, threads), tokens: tokens,
		surface: feature.NewSurfaces(n), begins: make([]int, n), ends: make([]int, n),
	}
	if tokens != nil {
		s.vectors = feature.NewTokenVectors(tokens.Dim())
		s.names = newNameList(n)
	}
	return s
}

// Renumber makes numbers[i] the number of what is added as sentence i from now on; with nil, i.
func (s *SideBuilder) Renumber(numbers []int32) { s.numbers = numbers }

// renumbered returns the numbers of what is added as these sentences.
func (s *SideBuilder) renumbered(added []int32) []int32 {
	if s.numbers == nil {
		return added
	}
	numbers := make([]int32, len(added))
	for i, n := range added {
		numbers[i] = s.numbers[n]
	}
	return numbers
}

// Add describes sentences by their numbers. The texts are normalised. Each sentence must be added once; the order does
// not matter.
func (s *SideBuilder) Add(ctx context.Context, numbers []int32, texts []string) error {
	numbers = s.renumbered(numbers)
	for len(texts) > 0 {
		n := min(chunk, len(texts))
		if err := s.add(ctx, numbers[:n], texts[:n], true); err != nil {
			return fmt.Errorf("describe %s sentences: %w", s.language, err)
		}
		numbers, texts = numbers[n:], texts[n:]
	}
	return nil
}

// AddTokenized is Add for sentences with known distinct token ids: sentence i has the ids of row rows[i].
func (s *SideBuilder) AddTokenized(ctx context.Context, numbers []int32, texts []string, rows []uint32, known tokenizer.Sequences) error {
	if s.tokens == nil || !s.tokens.Static() {
		return s.Add(ctx, numbers, texts)
	}
	numbers = s.renumbered(numbers)
	for i, row := range rows {
		begin := 0
		if row > 0 {
			begin = known.Ends[row-1]
		}
		s.begins[numbers[i]] = len(s.rows)
		s.rows = append(s.rows, known.IDs[begin:known.Ends[row]]...)
		s.ends[numbers[i]] = len(s.rows)
	}
	return s.add(ctx, numbers, texts, false)
}

func (s *SideBuilder) add(ctx context.Context, numbers []int32, texts []string, tokenize bool) error {
	var group errgroup.Group
	s.read = slices.Grow(s.read[:0], len(texts))[:len(texts)]
	part := (len(texts) + s.threads - 1) / s.threads
	for lo := 0; lo < len(texts); lo += part {
		group.Go(func() error {
			for i := lo; i < min(lo+part, len(texts)); i++ {
				s.read[i] = surface.Of(s.language, texts[i])
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, number := range numbers {
		s.surface.Set(number, &s.read[i])
		s.names.take(number, &s.read[i])
	}
	switch {
	case s.tokens == nil || !tokenize:
		return nil
	case s.tokens.Static():
		return s.addIDs(ctx, numbers, texts)
	default:
		return s.addContextual(ctx, numbers, texts)
	}
}

// addIDs stores each sentence's distinct ids, because a token that occurs twice has the same best cosine twice.
func (s *SideBuilder) addIDs(ctx context.Context, numbers []int32, texts []string) error {
	found, err := s.tokens.IDs(ctx, s.language, texts)
	if err != nil {
		return err
	}
	begin := 0
	for i, end := range found.Ends {
		ids := found.IDs[begin:end]
		begin = end
		slices.Sort(ids)
		s.begins[numbers[i]] = len(s.rows)
		s.rows = append(s.rows, slices.Compact(ids)...)
		s.ends[numbers[i]] = len(s.rows)
	}
	return nil
}

// addContextual stores a row for each token, sentence after sentence.
func (s *SideBuilder) addContextual(ctx context.Context, numbers []int32, texts []string) error {
	type sentence struct {
		ids     []int32
		vectors []float32
	}
	found := make([]sentence, len(texts))
	err := s.tokens.Contextual(ctx, s.language, texts, func(i int, ids []int32, vectors []float32) error {
		found[i] = sentence{slices.Clone(ids), slices.Clone(vectors)}
		return nil
	})
	if err != nil {
		return err
	}
	for i, one := range found {
		s.begins[numbers[i]] = len(s.rows)
		for range one.ids {
			s.rows = append(s.rows, int32(len(s.rows)))
		}
		s.ids = append(s.ids, one.ids...)
		s.ends[numbers[i]] = len(s.rows)
		if err := s.vectors.Append(one.vectors); err != nil {
			return err
		}
	}
	return nil
}

// finish completes both sides, which must have the same tokenizer. They must not be used afterwards.
func finish(ctx context.Context, source, target *SideBuilder) (_, _ *feature.Side, err error) {
	defer func() { *source, *target = SideBuilder{}, SideBuilder{} }() // what is not needed for features is garbage
	if source.tokens == nil {
		return &feature.Side{Surface: source.surface}, &feature.Side{Surface: target.surface}, nil
	}
	if !source.tokens.Static() {
		return source.side(nil), target.side(nil), nil
	}
	for _, side := range []*SideBuilder{source, target} {
		if err := side.names.tokenize(ctx, side.tokens, side.language); err != nil {
			return nil, nil, fmt.Errorf("names of %s sentences: %w", side.language, err)
		}
	}
	if err := shareTable(ctx, source, target); err != nil {
		return nil, nil, err
	}
	sourceNames, targetNames := source.names.NameList, target.names.NameList
	return source.side(&sourceNames), target.side(&targetNames), nil
}

func (s *SideBuilder) side(names *feature.NameList) *feature.Side {
	tokens := &feature.Tokens{Vectors: s.vectors, Rows: s.rows, Begins: s.begins, Ends: s.ends, IDs: s.ids}
	return &feature.Side{Surface: s.surface, Tokens: tokens, Names: names}
}

// shareTable gives both sides one table with a row for each id that occurs on either side, in order of ids.
func shareTable(ctx context.Context, source, target *SideBuilder) error {
	lists := slices.Concat(source.idLists(), target.idLists())
	maxID := int32(-1)
	for _, ids := range lists {
		for _, id := range ids {
			maxID = max(maxID, id)
		}
	}
	place := make([]int32, maxID+1)
	for _, ids := range lists {
		for _, id := range ids {
			place[id] = 1
		}
	}
	var ids []int32
	for id, there := range place {
		if there != 0 {
			place[id] = int32(len(ids))
			ids = append(ids, int32(id))
		}
	}
	table := feature.NewTokenVectors(source.tokens.Dim())
	table.Grow(len(ids))
	for part := range slices.Chunk(ids, chunk) {
		vectors, err := source.tokens.Vectors(ctx, part)
		if err != nil {
			return err
		}
		if err := table.Append(vectors); err != nil {
			return err
		}
	}
	for _, ids := range lists {
		for i, id := range ids {
			ids[i] = place[id]
		}
	}
	source.vectors, target.vectors = table, table
	return nil
}

// idLists are all lists of token ids of a side.
func (s *SideBuilder) idLists() [][]int32 { return [][]int32{s.rows, s.names.ids} }
