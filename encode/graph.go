package encode

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	ort "github.com/yalue/onnxruntime_go"
	"golang.org/x/sync/errgroup"

	"bitextmine/encode/gpu"
	"bitextmine/encode/model"
	"bitextmine/encode/session"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
)

// graph is an open graph of a model and the threads or GPUs that run it. encode and parallel may be called from any
// number of goroutines; together they use as many threads as there are runners.
type graph struct {
	model   *model.Model
	session *session.Session
	loaded  []*ort.DynamicAdvancedSession
	layered *session.Layered   // nil: loaded is the whole graph
	gpus    []*gpu.Transformer // GPUs that compute the graph by the program's own kernels
	busy    atomic.Int64       // nanoseconds that they have computed

	tokenised atomic.Int64 // nanoseconds that tokenising took
	budget    atomic.Int64 // tokens in a batch, at most
	rows      int          // rows in a batch, at most; 0: no bound
	centres   centres
	threads   chan *runner // one for each thread; a goroutine must hold one to tokenise
	// lanes have the runners of each GPU, or of the CPU, where they are the threads. Batches are dealt to them in turn.
	lanes []chan *runner
	log   *slog.Logger
}

// openGraph opens the graph of a model for its Output, which may be an inner tensor. options has no defaults left.
func openGraph(model *model.Model, options Options, inner bool) (_ *graph, err error) {
	if err := session.Acquire(options.Library, options.Device); err != nil {
		return nil, err
	}
	g := &graph{model: model, threads: make(chan *runner, options.Threads), log: options.Log}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	g.budget.Store(int64(options.TokenBudget))
	var without error // why the program's own kernels do not compute the graph
	if options.onGPU() && !inner {
		if without, err = g.openKernels(options.Device); err != nil || without == nil {
			return g, err
		}
	}
	if g.session, err = session.Open(model, inner); err != nil {
		return nil, err
	}
	if g.centres, err = readCentres(model); err != nil {
		return nil, err
	}
	defer g.session.Loaded()
	if options.onGPU() {
		if g.session.Table == nil && !errors.Is(without, errOnlyFloat16) {
			g.log.Warn("ONNX Runtime computes this encoder", "encoder", model.Name, "reason", without)
		}
		if err := g.openGPUs(options.Device); err != nil {
			return nil, err
		}
		return g, nil
	}
	var loaded *ort.DynamicAdvancedSession
	if model.Quantised > 0 {
		if g.layered, err = g.session.Layered(); err != nil {
			return nil, err
		}
	}
	if !g.session.Complete() && g.layered == nil {
		if loaded, err = g.session.Load(); err != nil {
			return nil, err
		}
		g.loaded = append(g.loaded, loaded)
	}
	for range cap(g.threads) {
		g.threads <- &runner{model: model, session: g.session, loaded: loaded, layered: g.layered}
	}
	g.lanes = []chan *runner{g.threads}
	return g, nil
}

// close frees the sessions and, if this is the last open graph, ONNX Runtime.
func (g *graph) close() error {
	var all []error
	for _, lane := range g.lanes {
		for range len(lane) {
			all = append(all, (<-lane).close())
		}
	}
	for _, loaded := range g.loaded {
		all = append(all, loaded.Destroy())
	}
	if g.layered != nil {
		all = append(all, g.layered.Close())
	}
	for _, gpu := range g.gpus {
		all = append(all, gpu.Close())
	}
	if g.gpus != nil {
		g.log.Debug("sentences encoded", "encoder", g.model.Name, "tokenising", time.Duration(g.tokenised.Load()),
			"gpus", time.Duration(g.busy.Load()))
	}
	return errors.Join(errors.Join(all...), session.Release())
}

// encode runs the graph on a tokenised window and writes the vectors into it.
func (g *graph) encode(ctx context.Context, w *window, done *counter) error {
	w.rows = resized(w.rows, len(w.texts)*g.model.Dim)
	var all []batch
	switch {
	case g.session.Table != nil:
		all = inOrder(w)
	case g.gpus != nil:
		all = packed(w, int(g.budget.Load()), g.rows)
	default:
		all = batches(w, int(g.budget.Load()), g.rows, g.session.Single)
	}
	return share(ctx, g.lanes, len(all), func(r *runner, i int) error {
		if err := g.run(r, w, all[i]); err != nil {
			return err
		}
		done.add(all[i].size)
		return nil
	})
}

// parallel calls f for 0 to n-1, each time with a thread's runner, and returns the first error. It stops when ctx is
// done.
func (g *graph) parallel(ctx context.Context, n int, f func(r *runner, i int) error) error {
	return share(ctx, []chan *runner{g.threads}, n, f)
}

// share calls f for 0 to n-1 and returns the first error. Call i holds a runner of lane i modulo the number of lanes.
// It stops when ctx is done.
func share(ctx context.Context, lanes []chan *runner, n int, f func(r *runner, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	for first, lane := range lanes {
		var taken atomic.Int64
		for range min(n, cap(lane)) {
			group.Go(func() error {
				for {
					i := first + len(lanes)*int(taken.Add(1)-1)
					if i >= n {
						return nil
					}
					var r *runner
					select {
					case r = <-lane:
					case <-ctx.Done():
						return ctx.Err()
					}
					err := f(r, i)
					lane <- r
					if err != nil {
						return err
					}
				}
			})
		}
	}
	return group.Wait()
}

// Judge is an open judge: it gives pairs of sentences the logits that they are translations. Logits may be called from
// any number of goroutines. Close must be called last.
type Judge struct {
	encoder *Encoder // encodes pairs; its vectors are the graph's logits
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
