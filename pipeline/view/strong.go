package view

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"bitextmine/corpus"
	"bitextmine/encode/embedding"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/store"
)

// Judged is a pair of sentences that a judge gave a logit.
type Judged struct {
	Keys           [2]corpus.Key
	Source, Target int32 // sentence numbers, in the plan that the pair was judged for
	Logit          float32
}

// judgedMagic begins the file of judged pairs; the pairs follow, little-endian, as Judged has them.
var judgedMagic = []byte("MINEJUDG")

// WriteJudged writes judged pairs.
func WriteJudged(path string, pairs []Judged) error {
	data := bytes.NewBuffer(bytes.Clone(judgedMagic))
	if err := binary.Write(data, binary.LittleEndian, pairs); err != nil {
		return fmt.Errorf("write judged pairs: %w", err)
	}
	return atomicfile.WriteBytes(path, data.Bytes())
}

// ReadJudged reads judged pairs.
func ReadJudged(path string) ([]Judged, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read judged pairs: %w", err)
	}
	rest, ok := bytes.CutPrefix(data, judgedMagic)
	size := binary.Size(Judged{})
	if !ok || len(rest)%size != 0 {
		err = errors.New("it is no list of judged pairs, or it is cut short")
	}
	pairs := make([]Judged, len(rest)/size)
	if err == nil {
		err = binary.Read(bytes.NewReader(rest), binary.LittleEndian, pairs)
	}
	if err != nil {
		return nil, badinput.Errorf("%s is damaged (%w); remove its directory, and it is made again", path, err)
	}
	return pairs, nil
}

// Logits reads the judge's logits of the pair's sentences, by their numbers.
func (p *Pair) Logits(ctx context.Context) (map[[2]int32]float32, error) {
	out, err := p.Output(ctx, Judge, p.Plan.Pairs[p.Index].Judged)
	if err != nil {
		return nil, err
	}
	pairs, err := ReadJudged(out.Path(JudgedFile))
	logits := make(map[[2]int32]float32, len(pairs))
	for _, j := range pairs {
		logits[[2]int32{j.Source, j.Target}] = j.Logit
	}
	return logits, err
}

// Strong has the vectors of one side's sentences by the strong encoder of two-stage mining.
type Strong struct {
	places []int32           // place of each sentence number among all vectors, from 1; 0: it has none
	ends   []int             // end of each shard's vectors among all
	files  []*embedding.File // file of each shard; nil: it has no vectors
}

// OpenStrong opens the strong vectors of a side.
func (p *Pair) OpenStrong(ctx context.Context, side int) (s *Strong, err error) {
	sentences := p.Sentences[side]
	s = &Strong{places: make([]int32, sentences.Len())}
	n := 0
	for shard, key := range p.Plan.Pairs[p.Index].Refined[side] {
		wanted, file, err := p.Refined(ctx, key, &p.Language(side).Shards[shard])
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		for i, row := range wanted {
			s.places[sentences.Rows[shard][row]] = int32(n + i + 1)
		}
		n += len(wanted)
		s.ends, s.files = append(s.ends, n), append(s.files, file)
	}
	return s, nil
}

// Vector copies a sentence's vector to dst [dim]; ok is false if it has none.
func (s *Strong) Vector(number int32, dst []float32) (ok bool) {
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

// Has reports whether a sentence has a vector.
func (s *Strong) Has(number int32) bool { return s.places[number] > 0 }

// Close closes the files of the vectors.
func (s *Strong) Close() (err error) {
	for _, file := range s.files {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}

// Refined opens the strong vectors of a shard, [rows, dim], in the output with this key. of lists the shard's rows that
// have one. The file is nil if there are none.
func (f *Files) Refined(ctx context.Context, key string, s *plan.Shard) (of []uint32, file *embedding.File, err error) {
	out, err := f.Output(ctx, Refine, key)
	if err != nil {
		return nil, nil, err
	}
	return f.RefinedIn(out, s)
}

// RefinedIn is Refined of an output that is open.
func (f *Files) RefinedIn(out *store.Output, s *plan.Shard) (of []uint32, file *embedding.File, err error) {
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
