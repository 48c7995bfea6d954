// Package encode is the stage that turns the sentences of a shard into vectors: by the encoder, or by looking them up
// among those that another program made.
package encode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/stage"
	"bitextmine/pipeline/view"
)

// Stage is the descriptor.
var Stage = &stage.Descriptor{
	Name: view.Encode, Version: 4, Unit: "sentences", After: []string{view.Shard}, GPU: true,
}

func init() { // not in the declaration, as the functions refer to it
	Stage.Check, Stage.Run, Stage.Rate = stage.CheckShard, run, rate
	stage.Register(Stage)
}

// args is a shard of a language.
type args struct {
	Language int `json:"language"`
	Shard    int `json:"shard"`
}

// spec lists all that an embedding file depends on.
type spec struct {
	Shard    string // digest
	Encoder  string // digest
	Language string // chooses the encoder's prefix
	DType    string
	Device   string `json:",omitempty"` // setting.Arithmetic
	Cut      bool   `json:",omitempty"` // ids beside it are without those of a prefix that is text
}

// Want asks for the embedding file of a shard, sets its Vector and returns it.
func Want(b *stage.Builder, language, shard int) string {
	l := &b.Languages[language]
	s := &l.Shards[shard]
	if s.Vector == "" {
		memory := int64(0)
		if s.Given == "" {
			s.Vector = Stage.Key(spec{s.SHA256, b.Settings.Encoder, l.Code, b.Settings.DType, b.Settings.EncoderDevice,
				b.Tokens.TextPrefix && b.Tokens.Static})
		} else {
			s.Vector = Stage.Key(givenSpec{s.SHA256, s.Given, b.Settings.Encoder, b.Settings.DType})
			memory = 40 * int64(l.Rows()) // the keys of all sentences, sorted
		}
		c := cost(b.Settings, s)
		if s.Given == "" {
			c.Fixed += b.Weights.Encoder
		}
		c.Memory += memory
		c.Expected += memory
		b.Add(Stage, s.Vector, int64(s.Rows), c, args{language, shard})
	}
	return s.Vector
}

// Memory is an upper bound that was measured on the CPU: windows of texts, tokens and vectors, without the graph's
// weights. For GPUs windows are twice as large.
func Memory(dim int, device string) int64 {
	rows := int64(16384)
	if device != "" {
		rows = 32768
	}
	return rows*(192<<20/16384) + rows*int64(dim)*8
}

// cost expects of memory what was measured with the default encoder: a window of texts and vectors, and token ids
// before they go to a temporary file. On disk it is vectors and token ids.
func cost(s plan.Settings, of *plan.Shard) stage.Cost {
	rows, dim, text := int64(of.Rows), int64(s.Dim), stage.SizeOf(of)
	return stage.Cost{
		Fixed:    Memory(s.Dim, s.EncoderDevice),
		Expected: 4<<20 + 16384*dim*2 + min(rows*170, 20<<20) + rows*4,
		Disk:     rows*dim*embedding.DType(s.DType).Size() + text*4/3,
		Scratch:  stage.Spilled(text),
		Read:     text,
	}
}

// run writes one shard's embedding file, whose rows are as many as the shard's.
func run(ctx context.Context, e *stage.Env, t *plan.Task, dir string, meter progress.Meter) (_ any, err error) {
	a, err := stage.Args[args](t)
	if err != nil {
		return nil, err
	}
	language := &e.Plan.Languages[a.Language]
	s := &language.Shards[a.Shard]
	if s.Given != "" {
		return nil, look(ctx, e, a, dir, meter)
	}
	encoder, err := e.Encoder() // first: it refuses an encoder that is not the plan's
	if err == nil {
		err = e.CheckProcessor(ctx)
	}
	if err != nil {
		return nil, err
	}
	reader, err := e.OpenShard(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	source := encode.Source{Name: s.Name, Digest: s.SHA256, Language: language.Code, Rows: s.Rows, Texts: view.Calm(reader.Rows(), language.Code)}
	shown := 0
	_, err = encoder.EncodeFile(ctx, filepath.Join(dir, view.EmbeddingFile), embedding.DType(e.Plan.Settings.DType), source, func(rows int) {
		meter.Add(int64(rows - shown))
		shown = rows
	})
	return nil, err
}

// sampleTime is how long the sample that is measured takes at least, unless it is a whole shard.
const sampleTime = 400 * time.Millisecond

// rate measures on the first shard.
func rate(ctx context.Context, e *stage.Env, left []*plan.Task) (float64, error) {
	a, err := stage.Args[args](left[0])
	if err != nil {
		return 0, err
	}
	if e.Plan.Languages[a.Language].Shards[a.Shard].Given != "" {
		return stage.DefaultRate, nil
	}
	encoder, err := e.Encoder()
	if err != nil {
		return 0, err
	}
	return Rate(ctx, e, encoder, a.Language, a.Shard)
}

// Rate measures how many sentences of a shard an encoder encodes in a second. It encodes samples, larger each time,
// until one takes long enough. Each is encoded to its end: the first sentences are not of the usual length, and they
// bear the costs of the start. A sample may wait for the disk or for other programs, so what a file of one sentence
// takes is not counted, and of two encodings the shorter counts.
func Rate(ctx context.Context, e *stage.Env, encoder stage.Encoder, language, number int) (_ float64, err error) {
	s := &e.Plan.Languages[language].Shards[number]
	reader, err := e.OpenShard(ctx, s)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	scratch, err := os.MkdirTemp("", "mine-calibration-*")
	if err != nil {
		return 0, fmt.Errorf("calibrate the encoder: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	sample := func(n int) (time.Duration, error) {
		rows := make([]uint32, n)
		for i := range rows {
			rows[i] = uint32(i * s.Rows / n)
		}
		texts := make([]string, 0, n) // all of the shard is read for them, as for all sentences
		for text, err := range view.Normalised(reader.RowsAt(rows)) {
			if err != nil {
				return 0, err
			}
			texts = append(texts, text)
		}
		source := encode.Source{Name: s.Name, Digest: s.SHA256, Language: e.Plan.Languages[language].Code, Rows: n, Texts: func(yield func(string, error) bool) {
			for _, text := range texts {
				if !yield(text, nil) {
					return
				}
			}
		}}
		begin := time.Now()
		_, err := encoder.EncodeFile(ctx, filepath.Join(scratch, view.EmbeddingFile), embedding.DType(e.Plan.Settings.DType), source, nil)
		if err != nil {
			return 0, fmt.Errorf("calibrate the encoder: %w", err)
		}
		return time.Since(begin), nil
	}
	return rateOf(s.Rows, sample)
}

// rateOf is the rate of samples of at most so many rows.
func rateOf(rows int, sample func(n int) (time.Duration, error)) (float64, error) {
	shorter := func(n int) (time.Duration, error) { // the shorter of two
		first, err := sample(n)
		if err != nil || first > 4*sampleTime {
			return first, err
		}
		second, err := sample(n)
		return min(first, second), err
	}
	one, err := shorter(1)
	if err != nil || rows == 1 {
		return 1 / one.Seconds(), err
	}
	var rate float64
	for n := min(32, rows); ; n = min(4*n, rows) {
		spent, err := shorter(n)
		if err != nil {
			return 0, err
		}
		enough := spent-one > sampleTime && spent > 2*one
		now := float64(n) / spent.Seconds()
		if spent > 2*one {
			now = float64(n-1) / (spent - one).Seconds()
		}
		switch before := rate; {
		case n == rows || enough && (now < 1.5*before || spent > 4*sampleTime):
			return max(now, before), nil
		case enough:
			rate = now // a larger sample confirms it: both of this size may have waited
		}
	}
}
