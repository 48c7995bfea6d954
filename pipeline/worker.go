package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"go.opentelemetry.io/otel/attribute"

	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/backend"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/store"
)

// Encoder makes embedding files; *encode.Encoder is one.
type Encoder interface {
	EncodeFile(ctx context.Context, path string, dtype embedding.DType, source encode.Source, progress func(rows int)) (embedding.Meta, error)
	Close() error
}

// worker runs tasks of one plan. It may run several at once; what they share is opened when the first needs it.
type worker struct {
	Options
	cfg   Config
	store *store.Store
	plan  *plan.Plan
	model *encode.Model

	searcher func() (index.Searcher, error) // that the plan names
	exact    func() (index.Searcher, error) // for cells that are too thin for an index
	encoder  func() (Encoder, error)
	opened   Encoder

	sentences [2]func() (*sentences, error) // by side
	mu        sync.Mutex
	orders    map[string][]int32 // key order by shard digest
	covers    map[coverOf][]int32
}

// coverOf is a cover of a side's shards.
type coverOf struct{ side, place int }

func newWorker(cfg Config, opts Options, st *store.Store, model *encode.Model, p *plan.Plan) *worker {
	w := &worker{Options: opts, cfg: cfg, store: st, plan: p, model: model, orders: map[string][]int32{}, covers: map[coverOf][]int32{}}
	w.encoder = sync.OnceValues(func() (Encoder, error) {
		encoder, err := opts.openEncoder(model, cfg.EncoderOptions())
		if err == nil {
			w.opened = encoder
		}
		return encoder, err
	})
	w.searcher = sync.OnceValues(w.openSearcher)
	w.exact = sync.OnceValues(func() (index.Searcher, error) { return backend.Open(exact.Name, backend.Options{Threads: cfg.Threads}) })
	for side := range w.sentences {
		w.sentences[side] = sync.OnceValues(func() (*sentences, error) { return w.number(side) })
	}
	return w
}

// close frees the encoder, if one was opened. No task may run.
func (w *worker) close() error {
	if w.opened == nil {
		return nil
	}
	return w.opened.Close()
}

// do runs one task unless its output is there.
func (w *worker) do(ctx context.Context, t *plan.Task, meter progress.Meter) (*store.Output, error) {
	ctx, span := startSpan(ctx, t.Stage, attribute.String("key", t.Key), attribute.Int64("items", t.Items))
	task := store.Task{Stage: t.Stage, Key: t.Key}
	out, err := w.store.Do(ctx, task, func(dir string) (any, error) {
		done := w.tell(ctx, task)
		info, err := w.stage(ctx, t, dir, meter)
		done(err)
		return info, err
	})
	if err == nil {
		span.SetAttributes(attribute.Bool("cached", out.Cached))
	}
	endSpan(span, err)
	if err == nil && out.Cached && t.Stage != plan.Shard {
		meter.Add(t.Items)
	}
	return out, err
}

func (w *worker) stage(ctx context.Context, t *plan.Task, dir string, meter progress.Meter) (any, error) {
	switch t.Stage {
	case plan.Shard:
		return w.cut(ctx, t, dir, meter)
	case plan.Encode:
		return w.encode(ctx, t, dir, meter)
	case plan.Search:
		return w.search(ctx, t, dir, meter)
	case plan.Merge:
		return w.merge(ctx, t, dir, meter)
	case plan.Match:
		return w.match(ctx, t, dir, meter)
	}
	return nil, fmt.Errorf("no stage is called %q", t.Stage)
}

// input returns the output of an earlier task.
func (w *worker) input(ctx context.Context, stage, key string) (*store.Output, error) {
	out, err := w.store.Get(ctx, store.Task{Stage: stage, Key: key})
	if errors.Is(err, fs.ErrNotExist) {
		// Not badinput, though a file is missing: the task that makes it may still be tried again.
		return nil, fmt.Errorf("the output %s/%s of an earlier task is not in %s; run mine run again", stage, key, w.cfg.Work)
	}
	return out, err
}

// shardPath returns the path of a shard file.
func (w *worker) shardPath(ctx context.Context, s *plan.ShardFile) (string, error) {
	out, err := w.input(ctx, plan.Shard, s.Task)
	if err != nil {
		return "", err
	}
	return out.Path(s.File), nil
}

// checkModel refuses a plan whose encoder is not the one that is there now.
func (w *worker) checkModel() error {
	if w.model.Digest != w.plan.Settings.Encoder {
		return badinput.Errorf("encoder %s is not the one that the plan was made for (%.12s instead of %.12s); make the plan again with mine run",
			w.cfg.Encoder, w.model.Digest, w.plan.Settings.Encoder)
	}
	return nil
}
