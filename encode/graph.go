package encode

import (
	"context"
	"errors"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"bitextmine/encode/model"
)

// graph is an open graph of a model and the threads that run it. encode and parallel may be called from any number of
// goroutines; together they use as many threads as there are runners.
type graph struct {
	model   *model.Model
	session session
	budget  int // tokens in a batch, at most
	centres centres
	runners chan *runner // one for each thread; a goroutine must hold one to run the graph
}

// openGraph opens the graph of a model for its Output, which may be an inner tensor. options has no defaults left.
func openGraph(model *model.Model, options Options, inner bool) (*graph, error) {
	if err := acquireRuntime(options.Library); err != nil {
		return nil, err
	}
	session, err := newSession(model, inner)
	if err != nil {
		return nil, errors.Join(err, releaseRuntime())
	}
	g := &graph{model: model, session: session, budget: options.TokenBudget, runners: make(chan *runner, options.Threads)}
	if g.centres, err = readCentres(model); err != nil {
		return nil, errors.Join(err, g.close())
	}
	for range options.Threads {
		g.runners <- &runner{model: model, session: session}
	}
	return g, nil
}

// close frees the session and, if this is the last open graph, ONNX Runtime.
func (g *graph) close() error { return errors.Join(g.session.Destroy(), releaseRuntime()) }

// encode runs the graph on a tokenised window and writes the vectors into it.
func (g *graph) encode(ctx context.Context, w *window, done *counter) error {
	w.rows = resized(w.rows, len(w.texts)*g.model.Dim)
	var all []batch
	if g.session.table != nil {
		all = inOrder(w)
	} else {
		all = batches(w, g.budget, g.session.single)
	}
	return g.parallel(ctx, len(all), func(r *runner, i int) error {
		if err := r.run(w, all[i]); err != nil {
			return err
		}
		done.add(all[i].size)
		return nil
	})
}

// parallel calls f for 0 to n-1 and returns the first error. Each call holds a runner. It stops when ctx is done.
func (g *graph) parallel(ctx context.Context, n int, f func(r *runner, i int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	var taken atomic.Int64
	for range min(n, cap(g.runners)) {
		group.Go(func() error {
			for {
				i := int(taken.Add(1)) - 1
				if i >= n {
					return nil
				}
				var r *runner
				select {
				case r = <-g.runners:
				case <-ctx.Done():
					return ctx.Err()
				}
				err := f(r, i)
				g.runners <- r
				if err != nil {
					return err
				}
			}
		})
	}
	return group.Wait()
}
