package encode

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"bitextmine/encode/model"

	"bitextmine/encode/tokenizer"

	"golang.org/x/sync/errgroup"
)

// chunk is the number of texts that are tokenised together.
const chunk = 256

// window is a run of consecutive sentences that are encoded together.
type window struct {
	base   int // row of the first sentence
	texts  []string
	centre []float32             // centre of the language [dim]; nil: none is subtracted
	chunks []tokenizer.Sequences // ids in chunks of `chunk` texts
	rows   []float32             // [len(texts), dim]
}

// tokens returns the token sequence of sentence i.
func (w *window) tokens(i int) []int32 { return w.chunks[i/chunk].At(i % chunk) }

// tokenize turns the window's texts into token sequences, on the threads of the graph. It overwrites the texts.
func (w *window) tokenize(ctx context.Context, g *graph, v *tokenizer.Vocabulary, prefix model.Prefix) error {
	n := (len(w.texts) + chunk - 1) / chunk
	for len(w.chunks) < n {
		w.chunks = append(w.chunks, tokenizer.Sequences{})
	}
	return g.parallel(ctx, n, func(_ *runner, i int) error {
		w.chunks[i].Reset()
		return v.Tokenize(&w.chunks[i], prefix, w.texts[i*chunk:min((i+1)*chunk, len(w.texts))])
	})
}

// stream passes windows from a goroutine that reads and tokenises to one that runs the graph and emits, so that the
// threads that one of them no longer needs at the end of a window work for the other. Both share the runners, so at
// most Options.Threads of them work at a time.
func (e *Encoder) stream(ctx context.Context, lang string, texts iter.Seq2[string, error],
	emit func(rows []float32) error, progress func(rows int), log *TokenLog) (int, error) {
	prefix, err := e.graph.model.Prefix(lang)
	if err != nil {
		return 0, err
	}
	centre := e.graph.centres.of(lang)
	group, ctx := errgroup.WithContext(ctx)
	free, ready := make(chan *window, 2), make(chan *window)
	for range cap(free) {
		w := e.windows.Get().(*window)
		w.centre = centre
		defer e.windows.Put(w)
		free <- w
	}
	group.Go(func() error {
		defer close(ready)
		return e.readWindows(ctx, prefix, texts, free, ready)
	})
	n := 0
	counted := counter{report: progress}
	group.Go(func() error {
		for w := range ready {
			if err := e.graph.encode(ctx, w, &counted); err != nil {
				return err
			}
			if err := emit(w.rows); err != nil {
				return err
			}
			if err := w.logTokens(log, e.vocabulary, prefix); err != nil {
				return err
			}
			n += len(w.texts)
			clear(w.texts)
			free <- w // never blocks: the channel has room for all windows
		}
		return ctx.Err()
	})
	err = group.Wait()
	return n, err
}

// logTokens adds the ids of the window's sentences, without their special tokens, to a log, if there is one.
func (w *window) logTokens(log *TokenLog, v *tokenizer.Vocabulary, prefix model.Prefix) error {
	if log == nil {
		return nil
	}
	for i := range w.texts {
		own, _ := v.Own(w.tokens(i), prefix)
		if err := log.Add(own); err != nil {
			return err
		}
	}
	return nil
}

// counter reports the number of encoded sentences, one call at a time and in ascending order.
type counter struct {
	mu     sync.Mutex
	rows   int
	report func(rows int) // may be nil
}

func (c *counter) add(rows int) {
	if c.report == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows += rows
	c.report(c.rows)
}

// readWindows fills free windows with tokenised texts and sends them to ready until texts ends.
func (e *Encoder) readWindows(ctx context.Context, prefix model.Prefix, texts iter.Seq2[string, error],
	free <-chan *window, ready chan<- *window) error {
	next, stop := iter.Pull2(texts)
	defer stop()
	base := 0
	for {
		var w *window
		select {
		case w = <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
		w.base, w.texts = base, w.texts[:0]
		more := true
		for len(w.texts) < e.window {
			text, err, ok := next()
			if err != nil {
				return fmt.Errorf("read sentence %d: %w", base+len(w.texts), err)
			}
			if more = ok; !more {
				break
			}
			w.texts = append(w.texts, text)
		}
		if len(w.texts) > 0 {
			if err := w.tokenize(ctx, e.graph, e.vocabulary, prefix); err != nil {
				return err
			}
			select {
			case ready <- w:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if !more {
			return nil
		}
		base += len(w.texts)
	}
}
