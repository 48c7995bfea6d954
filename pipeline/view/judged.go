package view

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"bitextmine/corpus"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
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
