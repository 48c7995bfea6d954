// Package rescore brings a scorer of package mine together with what it needs: the texts' facts, the encoder's token vectors, the scorer's
// file, and known pairs to fit one on.
package rescore

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"bitextmine/encode"
	"bitextmine/filter"
	"bitextmine/mine"
)

// chunk is how many sentences are described at a time.
const chunk = 4096

// Tokenizer gives token vectors; *encode.TokenEncoder is one.
type Tokenizer interface {
	Dim() int
	Static() bool
	IDs(ctx context.Context, language string, texts []string) (encode.TokenIDs, error)
	Vectors(ctx context.Context, ids []int32) ([]float32, error)
	Contextual(ctx context.Context, language string, texts []string, emit func(i int, ids []int32, vectors []float32) error) error
}

// Side gathers what features need to know of one side's sentences.
type Side struct {
	language string
	threads  int
	tokens   Tokenizer // nil: none
	facts    []mine.Facts
	rows     []int32 // token ids, or rows of vectors where those depend on the sentence
	begins   []int
	ends     []int
	vectors  mine.TokenVectors // contextual
	ids      []int32           // of vectors
}

// NewSide starts a side of n sentences of a language; tokens may be nil.
func NewSide(language string, n int, tokens Tokenizer, threads int) *Side {
	s := &Side{language: language, threads: max(1, threads), tokens: tokens, facts: make([]mine.Facts, n), begins: make([]int, n), ends: make([]int, n)}
	if tokens != nil {
		s.vectors = mine.NewTokenVectors(tokens.Dim())
	}
	return s
}

// Add describes some sentences by their numbers; texts are normalised. Each sentence is added once, in any order.
func (s *Side) Add(ctx context.Context, numbers []int32, texts []string) error {
	for len(texts) > 0 {
		n := min(chunk, len(texts))
		if err := s.add(ctx, numbers[:n], texts[:n], true); err != nil {
			return fmt.Errorf("describe %s sentences: %w", s.language, err)
		}
		numbers, texts = numbers[n:], texts[n:]
	}
	return nil
}

// AddCut is Add for sentences whose distinct token ids are known: sentence i has the ids of row rows[i].
func (s *Side) AddCut(ctx context.Context, numbers []int32, texts []string, rows []uint32, known encode.TokenIDs) error {
	if s.tokens == nil || !s.tokens.Static() {
		return s.Add(ctx, numbers, texts)
	}
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

func (s *Side) add(ctx context.Context, numbers []int32, texts []string, cut bool) error {
	var group errgroup.Group
	part := (len(texts) + s.threads - 1) / s.threads
	for lo := 0; lo < len(texts); lo += part {
		group.Go(func() error {
			for i := lo; i < min(lo+part, len(texts)); i++ {
				s.facts[numbers[i]] = filter.FactsOf(s.language, texts[i])
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	switch {
	case s.tokens == nil || !cut:
		return nil
	case s.tokens.Static():
		return s.addIDs(ctx, numbers, texts)
	default:
		return s.addContextual(ctx, numbers, texts)
	}
}

// addIDs keeps each sentence's distinct ids: a token that stands twice has the same best cosine twice.
func (s *Side) addIDs(ctx context.Context, numbers []int32, texts []string) error {
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

// addContextual keeps a row for each token, sentence after sentence.
func (s *Side) addContextual(ctx context.Context, numbers []int32, texts []string) error {
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

// Describe finishes both sides, which must have been given the same tokenizer. They must not be used after.
func Describe(ctx context.Context, source, target *Side) (_, _ *mine.Described, err error) {
	if source.tokens == nil {
		return &mine.Described{Facts: source.facts}, &mine.Described{Facts: target.facts}, nil
	}
	if source.tokens.Static() {
		if err := shareTable(ctx, source, target); err != nil {
			return nil, nil, err
		}
	}
	return source.described(), target.described(), nil
}

func (s *Side) described() *mine.Described {
	return &mine.Described{Facts: s.facts, Tokens: &mine.Tokens{Vectors: s.vectors, Rows: s.rows, Begins: s.begins, Ends: s.ends, IDs: s.ids}}
}

// shareTable gives both sides one table with a row for each id that either has, in order of ids.
func shareTable(ctx context.Context, source, target *Side) error {
	most := int32(-1)
	for _, rows := range [][]int32{source.rows, target.rows} {
		for _, id := range rows {
			most = max(most, id)
		}
	}
	place := make([]int32, most+1)
	for _, rows := range [][]int32{source.rows, target.rows} {
		for _, id := range rows {
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
	vectors, err := source.tokens.Vectors(ctx, ids)
	if err != nil {
		return err
	}
	table := mine.NewTokenVectors(source.tokens.Dim())
	if err := table.Append(vectors); err != nil {
		return err
	}
	for _, side := range []*Side{source, target} {
		for i, id := range side.rows {
			side.rows[i] = place[id]
		}
		side.vectors = table
	}
	return nil
}

// OpenTokens opens a model's token-level output, or nil if its manifest names none.
func OpenTokens(model *encode.Model, options encode.Options) (Tokenizer, func() error, error) {
	if model.Tokens.Output == "" {
		return nil, func() error { return nil }, nil
	}
	tokens, err := encode.OpenTokens(model, options)
	if err != nil {
		return nil, nil, err
	}
	return tokens, tokens.Close, nil
}

// Describer adds the sentences of a side (0 source, 1 target) to into. Both sides may be asked for at once.
type Describer func(ctx context.Context, side int, into *Side) error

// Subject is what a scorer or a fit looks at: a mining problem and how to get at its texts.
type Subject struct {
	Languages [2]string
	Lists     *mine.Lists
	Tokens    Tokenizer // nil: none
	Describe  Describer
	Threads   int
	Only      func(*mine.Candidate) bool // the candidates wanted; nil: all
}

// Candidates returns the candidates with their features.
func (s *Subject) Candidates(ctx context.Context) ([]mine.Candidate, mine.FeatureValues, error) {
	var candidates []mine.Candidate
	var sides [2]*Side
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(max(1, s.Threads))
	for i, n := range []int{s.Lists.Source.Len(), s.Lists.Target.Len()} {
		sides[i] = NewSide(s.Languages[i], n, s.Tokens, s.Threads)
		group.Go(func() error { return s.Describe(within, i, sides[i]) })
	}
	group.Go(func() error {
		candidates = s.Lists.Contenders()
		if s.Only != nil {
			candidates = slices.DeleteFunc(candidates, func(c mine.Candidate) bool { return !s.Only(&c) })
		}
		return nil
	})
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	source, target, err := Describe(ctx, sides[0], sides[1])
	if err != nil {
		return nil, nil, err
	}
	values, err := s.Lists.Describe(ctx, candidates, source, target, s.Threads)
	return candidates, values, err
}

// Apply ranks the candidates by a scorer, whose K is that of the lists.
func (s *Subject) Apply(ctx context.Context, scorer *mine.Scorer) (mine.Ranked, error) {
	if s.Lists.K != scorer.K {
		return mine.Ranked{}, fmt.Errorf("the scorer's k is %d, that of the lists %d", scorer.K, s.Lists.K)
	}
	candidates, values, err := s.Candidates(ctx)
	if err != nil {
		return mine.Ranked{}, err
	}
	if s.Tokens == nil && scorer.Tokens {
		scorer = scorer.WithoutTokens()
	}
	return scorer.Rank(candidates, values), nil
}

// Texts is a Describer of texts in memory, by sentence number.
func Texts(texts [2][]string) Describer {
	return func(ctx context.Context, side int, into *Side) error {
		return into.Add(ctx, span(0, len(texts[side])), texts[side])
	}
}
