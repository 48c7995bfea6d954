package score

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"bitextmine/corpus/surface"
	"bitextmine/encode"
	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/spill"
	"bitextmine/score/feature"
)

// chunk is the number of sentences that are described at a time.
const chunk = 4096

// SideBuilder collects the input of the features for one side.
type SideBuilder struct {
	language string
	threads  int
	tokens   Tokenizer // nil if there is none
	side     *feature.Side
	read     []feature.Sentence // that are being added
	calm     []string           // their texts as surface.Calm gives them
	loud     []bool
	numbers  []int32 // see Renumber
	names    nameList
}

// NewSide returns a builder for a side of n sentences of one language, which go to space. tokens may be nil.
func NewSide(space spill.Space, language string, n int, tokens Tokenizer, threads int) *SideBuilder {
	s := &SideBuilder{language: language, threads: max(1, threads), tokens: tokens, names: newNameList()}
	dim := 0
	if tokens != nil {
		dim = tokens.Dim()
	}
	s.side = feature.NewSide(space, n, dim)
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
	return s.inChunks(ctx, numbers, texts, s.tokenize)
}

// AddTokenized is Add for sentences with known distinct token ids: sentence i has those of row rows[i].
func (s *SideBuilder) AddTokenized(ctx context.Context, numbers []int32, texts []string, rows []uint32, known func(row uint32) []int32) error {
	if s.tokens == nil || !s.tokens.Static() {
		return s.Add(ctx, numbers, texts)
	}
	return s.inChunks(ctx, numbers, texts, func(_ context.Context, texts []string) error {
		for i, row := range rows[:len(texts)] {
			s.read[i].Tokens = known(row)
		}
		rows = rows[len(texts):]
		return nil
	})
}

// inChunks describes and adds sentences, whose tokens tokens sets in s.read.
func (s *SideBuilder) inChunks(ctx context.Context, numbers []int32, texts []string, tokens func(ctx context.Context, texts []string) error) error {
	numbers = s.renumbered(numbers)
	for len(texts) > 0 {
		n := min(chunk, len(texts))
		s.read = slices.Grow(s.read[:0], n)[:n]
		clear(s.read)
		s.calm, s.loud = s.calm[:0], s.loud[:0]
		for _, text := range texts[:n] {
			calm, loud := surface.Calm(text, s.language)
			s.calm, s.loud = append(s.calm, calm), append(s.loud, loud)
		}
		err := tokens(ctx, s.calm)
		if err == nil {
			err = s.add(ctx, numbers[:n])
		}
		if err != nil {
			return fmt.Errorf("describe %s sentences: %w", s.language, err)
		}
		numbers, texts = numbers[n:], texts[n:]
	}
	return nil
}

// add describes the sentences in s.read and adds them.
func (s *SideBuilder) add(ctx context.Context, numbers []int32) error {
	var group errgroup.Group
	part := (len(s.calm) + s.threads - 1) / s.threads
	for lo := 0; lo < len(s.calm); lo += part {
		group.Go(func() error {
			for i := lo; i < min(lo+part, len(s.calm)); i++ {
				text := surface.Plain(s.calm[i])
				s.read[i].Surface = surface.Of(s.language, text)
				if s.loud[i] { // which word is a name its case does not say
					s.read[i].Surface.Names, s.read[i].Surface.Lower = nil, nil
				}
				s.read[i].Sounds = surface.AppendSounds(make([]surface.Sound, 0, len(text)+len(text)/4), text)
			}
			return ctx.Err()
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i, number := range numbers {
		one := &s.read[i]
		one.Names = s.names.take(&one.Surface)
		if err := s.side.Add(number, one); err != nil {
			return err
		}
	}
	return nil
}

// tokenize sets the tokens of the sentences in s.read.
func (s *SideBuilder) tokenize(ctx context.Context, texts []string) error {
	switch {
	case s.tokens == nil:
		return nil
	case s.tokens.Static():
		return s.setIDs(ctx, texts)
	default:
		return s.setContextual(ctx, texts)
	}
}

// setIDs sets each sentence's distinct ids, because a token that occurs twice has the same best cosine twice.
func (s *SideBuilder) setIDs(ctx context.Context, texts []string) error {
	found, err := s.tokens.IDs(ctx, s.language, texts)
	if err != nil {
		return err
	}
	begin := 0
	for i, end := range found.Ends {
		ids := found.IDs[begin:end]
		begin = end
		slices.Sort(ids)
		s.read[i].Tokens = slices.Compact(ids)
	}
	return nil
}

// setContextual sets each sentence's ids with the vectors that they have in it.
func (s *SideBuilder) setContextual(ctx context.Context, texts []string) error {
	return s.tokens.Contextual(ctx, s.language, texts, func(i int, ids []int32, vectors []float32) error {
		own := feature.NewTokenVectors(s.tokens.Dim())
		s.read[i].Tokens, s.read[i].Vectors = slices.Clone(ids), own
		return s.read[i].Vectors.Append(vectors)
	})
}

// Close frees what was added, and the side that Describe returned.
func (s *SideBuilder) Close() error { return s.side.Close() }

// Describe returns what was added, as one side or as a part of one (feature.Join). Nothing must be added afterwards.
func (s *SideBuilder) Describe(ctx context.Context) (*feature.Side, error) {
	var ids tokenizer.Sequences
	if s.tokens != nil && s.tokens.Static() {
		var err error
		if ids, err = s.names.tokenize(ctx, s.tokens, s.language); err != nil {
			return nil, fmt.Errorf("names of %s sentences: %w", s.language, err)
		}
	}
	s.side.Names, s.side.Lower = s.names.list(ids)
	return s.side, nil
}

// finish completes both sides, which must have the same tokenizer.
func finish(ctx context.Context, builders [2]*SideBuilder) error {
	var sides [2]*feature.Side
	for i, one := range builders {
		var err error
		if sides[i], err = one.Describe(ctx); err != nil {
			return err
		}
		sides[i].FindWords()
	}
	return ShareTable(ctx, builders[0].tokens, sides[0], sides[1])
}

// ShareTable gives both sides one table of token vectors with a row for each id that occurs on either side, in order of
// ids. Without tokens, or if their vectors depend on the sentence, it does nothing.
func ShareTable(ctx context.Context, tokens Tokenizer, source, target *feature.Side) error {
	if tokens == nil || !tokens.Static() {
		return nil
	}
	var place []int32
	for _, side := range []*feature.Side{source, target} {
		side.EachID(func(id int32) {
			for len(place) <= int(id) {
				place = append(place, -1)
			}
			place[id] = 0
		})
	}
	var ids []int32
	for id := range place {
		if place[id] == 0 {
			place[id] = int32(len(ids))
			ids = append(ids, int32(id))
		}
	}
	table := feature.NewTokenVectors(tokens.Dim())
	table.Grow(len(ids))
	for part := range slices.Chunk(ids, chunk) {
		vectors, err := tokens.Vectors(ctx, part)
		if err != nil {
			return err
		}
		if err := table.Append(vectors); err != nil {
			return err
		}
	}
	source.SetTable(&table, place)
	target.SetTable(&table, place)
	return nil
}

// Tokenizer computes token vectors. *encode.TokenEncoder implements it.
type Tokenizer interface {
	Dim() int
	Static() bool
	IDs(ctx context.Context, language string, texts []string) (tokenizer.Sequences, error)
	Vectors(ctx context.Context, ids []int32) ([]float32, error)
	Contextual(ctx context.Context, language string, texts []string, emit func(i int, ids []int32, vectors []float32) error) error
}

// OpenTokens opens a model's token-level output. It returns nil if the manifest names none.
func OpenTokens(model *model.Model, options encode.Options) (Tokenizer, func() error, error) {
	if model.Tokens.Output == "" {
		return nil, func() error { return nil }, nil
	}
	tokens, err := encode.OpenTokens(model, options)
	if err != nil {
		return nil, nil, err
	}
	return tokens, tokens.Close, nil
}
