package rescore

import (
	"context"
	"fmt"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
)

// Pair is a known translation, both texts normalised.
type Pair struct{ Source, Target string }

// Embedder turns normalised sentences into vectors; *encode.Encoder is one.
type Embedder interface {
	Dim() int
	Encode(ctx context.Context, language string, texts []string, dst []float32) error
}

// Bed is a pair of corpora that known pairs are planted into.
type Bed struct {
	Languages [2]string
	Texts     [2][]string         // distinct, normalised, in key order
	Vectors   [2]embedding.Matrix // row i of either is text i's
	Lists     [2]mine.Neighbours  // of either side's texts in the other
	K         int
	Searcher  index.Searcher
	Encoder   Embedder
	Tokens    Tokenizer // nil: none
	Describe  Describer // of Texts
	Threads   int
}

// rounds is how often the pairs are planted. In each round half of them are planted whole and the others alone: one of their two
// sentences, without its translation. Real corpora are full of sentences without a translation, and a scorer that had only seen
// sentences with one would learn to take the best that there is.
const rounds = 2

// Plant plants the pairs and returns what their sentences and rivals show: a planted pair is true, every other candidate of its
// sentences false. Candidates of which neither sentence was planted are left out, as nothing is known of them. A sentence that the
// corpus has already is used as it stands there, and so is a pair. found is how many pairs were among each other's neighbours.
func (b *Bed) Plant(ctx context.Context, pairs []Pair) (examples mine.Examples, found int, err error) {
	pairs = distinctPairs(pairs)
	if len(pairs) < mine.MinPlanted {
		return examples, 0, badinput.Errorf("%d different planted pairs are too few to fit a scorer on: give at least %d", len(pairs), mine.MinPlanted)
	}
	for side, language := range b.Languages {
		if len(b.Texts[side]) <= b.K {
			return examples, 0, badinput.Errorf("the %s corpus has %d sentences, which leaves a planted pair without %d rivals: give more text", language, len(b.Texts[side]), b.K)
		}
	}
	for round := range rounds {
		n, err := b.round(ctx, pairs, 0, round, &examples)
		if err != nil {
			return examples, 0, fmt.Errorf("plant pairs: %w", err)
		}
		found += n
	}
	if err := b.small(ctx, pairs, &examples); err != nil {
		return examples, 0, fmt.Errorf("plant pairs in small corpora: %w", err)
	}
	if found < mine.MinPlanted/2 {
		return examples, found, badinput.Errorf("only %d of %d planted pairs are among each other's %d neighbours, too few to learn from: the encoder hardly knows %s or %s",
			found, len(pairs), b.K, b.Languages[0], b.Languages[1])
	}
	return examples, found, nil
}

// distinctPairs drops a pair of which either sentence stands in an earlier one: it would have two translations.
func distinctPairs(pairs []Pair) []Pair {
	sources, targets := map[string]bool{}, map[string]bool{}
	var out []Pair
	for _, p := range pairs {
		if p.Source == "" || p.Target == "" || sources[p.Source] || targets[p.Target] {
			continue
		}
		sources[p.Source], targets[p.Target] = true, true
		out = append(out, p)
	}
	return out
}

// planted is the sentences of a round.
type planted struct {
	texts [2][]string        // new ones, numbered after the corpus's
	group [2]map[int32]int32 // sentence -> its pair
	whole map[[2]int32]bool
	alone map[int32]bool // pairs of which one sentence is there
}

// place numbers the sentences of a round's pairs.
func (b *Bed) place(pairs []Pair, round int) *planted {
	known := [2]map[string]int32{{}, {}}
	for side, texts := range b.Texts {
		for i, text := range texts {
			known[side][text] = int32(i)
		}
	}
	p := &planted{group: [2]map[int32]int32{{}, {}}, whole: map[[2]int32]bool{}, alone: map[int32]bool{}}
	for i, pair := range pairs {
		texts := [2]string{pair.Source, pair.Target}
		alone := -1 // the only side to plant
		if i%rounds != round {
			alone = i / rounds % 2
		}
		var numbers [2]int32
		there := 0
		for side, text := range texts {
			number, ok := known[side][text]
			if !ok && (alone < 0 || alone == side) {
				number, ok = int32(len(b.Texts[side])+len(p.texts[side])), true
				p.texts[side] = append(p.texts[side], text)
			}
			if ok {
				p.group[side][number] = int32(i)
				numbers[side] = number
				there++
			}
		}
		if there == 2 {
			p.whole[numbers] = true
		} else {
			p.alone[int32(i)] = true
		}
	}
	return p
}

// groupOf returns the pair that a candidate is of; ok is false when neither of its sentences was planted.
func (p *planted) groupOf(c *mine.Candidate) (group int32, ok bool) {
	if group, ok = p.group[0][c.Source]; !ok {
		group, ok = p.group[1][c.Target]
	}
	return group, ok
}

// round plants once and adds what it shows to examples, as groups from first on.
func (b *Bed) round(ctx context.Context, pairs []Pair, first, round int, examples *mine.Examples) (found int, err error) {
	p := b.place(pairs, round)
	lists, err := b.search(ctx, p)
	if err != nil {
		return 0, err
	}
	subject := Subject{
		Languages: b.Languages, Lists: lists, Tokens: b.Tokens, Threads: b.Threads,
		Describe: func(ctx context.Context, side int, into *Side) error {
			if err := b.Describe(ctx, side, into); err != nil {
				return err
			}
			return into.Add(ctx, span(len(b.Texts[side]), len(p.texts[side])), p.texts[side])
		},
		Only: func(c *mine.Candidate) bool { _, ok := p.groupOf(c); return ok },
	}
	candidates, values, err := subject.Candidates(ctx)
	if err != nil {
		return 0, err
	}
	for i, c := range candidates {
		group, _ := p.groupOf(&c)
		whole := p.whole[[2]int32{c.Source, c.Target}]
		if whole {
			found++
		}
		examples.Values = append(examples.Values, values.Of(i)...)
		examples.True = append(examples.True, whole)
		examples.Group = append(examples.Group, int32(first)+group)
		examples.Alone = append(examples.Alone, p.alone[group])
	}
	return found, nil
}

// search finds the neighbours of both sides with the planted sentences among them: the corpora's own lists are known, and three smaller
// searches give what the planted sentences change.
func (b *Bed) search(ctx context.Context, p *planted) (*mine.Lists, error) {
	var vectors [2]embedding.Matrix
	for side, texts := range p.texts {
		rows := make([]float32, len(texts)*b.Encoder.Dim())
		if err := b.Encoder.Encode(ctx, b.Languages[side], texts, rows); err != nil {
			return nil, err
		}
		vectors[side] = embedding.FromFloat32(rows, b.Encoder.Dim())
		if b.Vectors[side].F16 != nil {
			vectors[side] = embedding.Narrow(vectors[side])
		}
	}
	var mergers [2]*mine.Merger
	var own, fresh [2][]int32
	for side, texts := range b.Texts {
		mergers[side] = mine.NewMerger(len(texts)+len(p.texts[side]), b.K)
		own[side], fresh[side] = span(0, len(texts)), span(len(texts), len(p.texts[side]))
	}
	mergers[0].Add(b.Lists[0], own[0], own[1])
	mergers[1].Add(b.Lists[1], own[1], own[0])
	for _, cell := range [][2]struct {
		vectors embedding.Matrix
		numbers []int32
	}{
		{{vectors[0], fresh[0]}, {b.Vectors[1], own[1]}},
		{{b.Vectors[0], own[0]}, {vectors[1], fresh[1]}},
		{{vectors[0], fresh[0]}, {vectors[1], fresh[1]}},
	} {
		if len(cell[0].numbers) == 0 || len(cell[1].numbers) == 0 {
			continue
		}
		result, err := b.Searcher.Search(ctx, index.Side{Vectors: cell[0].vectors}, index.Side{Vectors: cell[1].vectors}, b.K, nil)
		if err != nil {
			return nil, err
		}
		mergers[0].Add(result.Source, cell[0].numbers, cell[1].numbers)
		mergers[1].Add(result.Target, cell[1].numbers, cell[0].numbers)
	}
	return mine.NewLists(mergers[0].Neighbours(), mergers[1].Neighbours(), b.K, mine.Ratio)
}

// span lists n numbers from lo.
func span(lo, n int) []int32 {
	numbers := make([]int32, n)
	for i := range numbers {
		numbers[i] = int32(lo + i)
	}
	return numbers
}
