package view

import (
	"context"
	"errors"
	"fmt"

	"bitextmine/encode/embedding"
	"bitextmine/mine"
	"bitextmine/pipeline/plan"
)

// Shortlist is what two-stage mining encodes again: the sentences of the candidates whose static margin is above the
// floor.
type Shortlist struct {
	Pairs int
	Rows  [2][][]uint32 // by side and shard: the rows of the sentences' first occurrences, ascending
}

// Shortlist finds what to encode again from the pair's neighbours.
func (p *Pair) Shortlist(ctx context.Context) (*Shortlist, error) {
	lists, scorer, err := p.neighbourhoods(ctx, &Recall{})
	if err != nil {
		return nil, err
	}
	candidates := lists.Candidates()
	if scorer != nil {
		candidates = lists.ScoredCandidates()
	}
	s := &Shortlist{}
	wanted := [2][]bool{make([]bool, p.Sentences[0].Len()), make([]bool, p.Sentences[1].Len())}
	for _, c := range candidates {
		if p.promising(c) && (scorer != nil || mine.Retrieval(p.Plan.Settings.Retrieval).Asks(c)) {
			s.Pairs++
			wanted[0][c.Source], wanted[1][c.Target] = true, true
		}
	}
	for side, sentences := range p.Sentences {
		s.Rows[side] = make([][]uint32, len(sentences.Rows))
		for shard, numbers := range sentences.Rows {
			for row, number := range numbers {
				if wanted[side][number] && sentences.IsFirst(shard, row) {
					s.Rows[side][shard] = append(s.Rows[side][shard], uint32(row))
				}
			}
		}
	}
	return s, nil
}

// promising says whether a pair goes to the strong encoder.
func (p *Pair) promising(c mine.Candidate) bool {
	return float64(c.Score) > p.Plan.Settings.RefineFloor
}

// strong is the strong vectors of one side's sentences.
type strong struct {
	places []int32           // by sentence number: its place among all vectors, from 1; 0: it has none
	ends   []int             // of each shard's vectors among all
	files  []*embedding.File // by shard; nil: it has no vectors
}

// openStrong opens the strong vectors of a side.
func (p *Pair) openStrong(ctx context.Context, side int) (s *strong, err error) {
	sentences := p.Sentences[side]
	s = &strong{places: make([]int32, sentences.Len())}
	n := 0
	for shard, key := range p.Plan.Pairs[p.Index].Refined[side] {
		wanted, file, err := p.Refined(ctx, key, &p.Language(side).Shards[shard])
		if err != nil {
			return nil, errors.Join(err, s.close())
		}
		for i, row := range wanted {
			s.places[sentences.Rows[shard][row]] = int32(n + i + 1)
		}
		n += len(wanted)
		s.ends, s.files = append(s.ends, n), append(s.files, file)
	}
	return s, nil
}

// vector copies a sentence's vector to dst [dim]; ok is false if it has none.
func (s *strong) vector(number int32, dst []float32) (ok bool) {
	at := int(s.places[number]) - 1
	if at < 0 {
		return false
	}
	shard, begin := 0, 0
	for at >= s.ends[shard] {
		begin = s.ends[shard]
		shard++
	}
	s.files[shard].Float32(dst, at-begin, at-begin+1)
	return true
}

func (s *strong) close() (err error) {
	for _, file := range s.files {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}

// Refined opens the strong vectors of a shard, [rows, dim], that the output with this key has, and says of which rows
// they are. Without any the file is nil.
func (f *Files) Refined(ctx context.Context, key string, s *plan.Shard) (of []uint32, file *embedding.File, err error) {
	out, err := f.Output(ctx, Refine, key)
	if err != nil {
		return nil, nil, err
	}
	lists, err := ReadRows(out.Path(RowsFile), s.Rows)
	if err != nil || len(lists[0]) == 0 {
		return nil, nil, err
	}
	if file, err = embedding.Open(out.Path(EmbeddingFile), embedding.Want{Encoder: f.Plan.Settings.Refine, Shard: s.SHA256}); err != nil {
		return nil, nil, err
	}
	if file.N != len(lists[0]) || file.Dim != f.Plan.Refiner.Dim {
		err = fmt.Errorf("the strong vectors of %s are [%d, %d] for %d rows of %d numbers", s.Name, file.N, file.Dim, len(lists[0]), f.Plan.Refiner.Dim)
		return nil, nil, errors.Join(err, file.Close())
	}
	return lists[0], file, nil
}

// refine returns the strong cosine of each candidate; mine.NotRefined is that of a pair that is not promising.
func (p *Pair) refine(ctx context.Context, candidates []mine.Candidate) (cosines []float32, err error) {
	var sides [2]*strong
	for side := range sides {
		if sides[side], err = p.openStrong(ctx, side); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, sides[side].close()) }()
	}
	x, y := make([]float32, p.Plan.Refiner.Dim), make([]float32, p.Plan.Refiner.Dim)
	cosines = make([]float32, len(candidates))
	for i, c := range candidates {
		switch {
		case !p.promising(c):
			cosines[i] = mine.NotRefined
		case sides[0].vector(c.Source, x) && sides[1].vector(c.Target, y):
			cosines[i] = embedding.Dot(x, y)
		case mine.Retrieval(p.Plan.Settings.Retrieval).Asks(c):
			return nil, errors.New("a promising pair has no strong vectors; give mine run again")
		default:
			cosines[i] = mine.NotRefined
		}
	}
	return cosines, nil
}
