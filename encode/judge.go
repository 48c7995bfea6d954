package encode

import (
	"context"
	"math"

	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
)

// Judge is an open judge: it gives pairs of sentences the logits that they are translations. Logits may be called from
// any number of goroutines. Close must be called last.
type Judge struct {
	encoder *Encoder // of pairs, whose vectors are the graph's logits
	model   *model.Model
}

// OpenJudge loads a judge's tokenizer and graph and verifies the graph against the manifest.
func OpenJudge(m *model.Model, options Options) (*Judge, error) {
	e, err := start(m, options, false)
	if err != nil {
		return nil, err
	}
	return &Judge{e, m}, nil
}

// Close frees what OpenJudge opened.
func (j *Judge) Close() error { return j.encoder.Close() }

// Logits writes the logits of pairs of normalised sentences, source and target, to dst [len(pairs)]. A pair's logit
// depends on the pair alone: the pairs of a batch have one length. progress may be nil; it is called by one goroutine
// at a time with the number of pairs that were judged since its last call.
func (j *Judge) Logits(ctx context.Context, pairs [][2]string, dst []float32, progress func(pairs int64)) error {
	width := j.encoder.Dim()
	values := make([]float32, j.encoder.window*width)
	for begin := 0; begin < len(pairs); begin += j.encoder.window {
		some := pairs[begin:min(begin+j.encoder.window, len(pairs))]
		if err := j.window(ctx, some, values[:len(some)*width], progress); err != nil {
			return err
		}
		for i, pair := range some {
			logit := j.model.Judge.Logit(values[i*width:][:width])
			if math.IsNaN(float64(logit)) || math.IsInf(float64(logit), 0) {
				return badinput.Errorf("judge %s gives the pair %q - %q a logit that is no finite number: use a graph "+
					"in float32, or another judge", j.model.Name, pair[0], pair[1])
			}
			dst[begin+i] = logit
		}
	}
	return nil
}

// LogitsOf writes the logits of pairs that are given as what the graph gets to dst [len(pairs)].
func (j *Judge) LogitsOf(ctx context.Context, pairs [][]int32, dst []float32) error {
	values := make([]float32, len(pairs)*j.encoder.Dim())
	if err := j.encoder.EncodeIDs(ctx, pairs, values); err != nil {
		return err
	}
	for i := range pairs {
		dst[i] = j.model.Judge.Logit(values[i*j.encoder.Dim():][:j.encoder.Dim()])
	}
	return nil
}

// window runs the graph on some pairs.
func (j *Judge) window(ctx context.Context, pairs [][2]string, values []float32, progress func(int64)) error {
	w := &window{texts: make([]string, len(pairs)), chunks: make([]tokenizer.Sequences, (len(pairs)+chunk-1)/chunk)}
	err := j.encoder.graph.parallel(ctx, len(w.chunks), func(_ *runner, i int) error {
		return j.encoder.vocabulary.TokenizePairs(&w.chunks[i], pairs[i*chunk:min((i+1)*chunk, len(pairs))])
	})
	if err != nil {
		return err
	}
	counted, shown := counter{}, 0
	if progress != nil {
		counted.report = func(rows int) {
			progress(int64(rows - shown))
			shown = rows
		}
	}
	if err := j.encoder.graph.encode(ctx, w, &counted); err != nil {
		return err
	}
	copy(values, w.rows)
	return nil
}
