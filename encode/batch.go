package encode

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"bitextmine/encode/model"
	"bitextmine/encode/session"
	"bitextmine/encode/tokenizer"
)

const minRows = session.MinRows

// batch is a set of rows of one window.
type batch struct {
	rows   []int32 // indices into the window, at least minRows; a row may occur twice
	length int     // tokens in each row; in the longest, for a table
	size   int     // distinct rows
}

// newBatch repeats the first of distinct rows where there are fewer than minRows.
func newBatch(rows []int32, length int) batch {
	b := batch{rows: rows, length: length, size: len(rows)}
	for len(b.rows) < minRows {
		b.rows = append(b.rows, b.rows[0])
	}
	return b
}

// batches groups a window's rows by token count, so that no row is padded, and cuts each group into batches of at
// most budget tokens and most rows (0: any number), but at least minRows rows. If single is set, every batch holds
// one row, given twice. Batches are sorted longest first, so the last ones to run are short and all workers finish
// at about the same time.
func batches(w *window, budget, most int, single bool) []batch {
	order, lengths := longestFirst(w)
	n := len(order)
	var all []batch
	for lo := 0; lo < n; {
		l := lengths[order[lo]]
		size := budget / int(l)
		if most > 0 {
			size = min(size, most)
		}
		end := min(n, lo+max(minRows, size))
		if single {
			end = lo + 1
		}
		hi := lo + 1
		for hi < end && lengths[order[hi]] == l {
			hi++
		}
		all = append(all, newBatch(order[lo:hi:hi], int(l)))
		lo = hi
	}
	return all
}

// longestFirst are a window's rows and, by row, how many tokens they have.
func longestFirst(w *window) (order, lengths []int32) {
	order, lengths = make([]int32, len(w.texts)), make([]int32, len(w.texts))
	for i := range order {
		order[i], lengths[i] = int32(i), int32(len(w.tokens(i)))
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(lengths[b], lengths[a]), cmp.Compare(a, b))
	})
	return order, lengths
}

// packed cuts a window's rows, longest first, into batches of at most budget tokens and most rows, for kernels that
// take rows of any lengths.
func packed(w *window, budget, most int) []batch {
	order, lengths := longestFirst(w)
	var all []batch
	for len(order) > 0 {
		n, tokens := 0, 0
		for n < min(len(order), most) && (n == 0 || tokens+int(lengths[order[n]]) <= budget) {
			tokens += int(lengths[order[n]])
			n++
		}
		all = append(all, batch{rows: order[:n:n], length: int(lengths[order[0]]), size: n})
		order = order[n:]
	}
	return all
}

// tableRows is how many rows' sums a static encoder's graph takes at once.
const tableRows = 64

// inOrder cuts a window's rows into batches for a table's sums, which rows of any lengths may share.
func inOrder(w *window) []batch {
	var all []batch
	for lo := 0; lo < len(w.texts); lo += tableRows {
		var rows []int32
		longest := 0
		for row := lo; row < min(lo+tableRows, len(w.texts)); row++ {
			rows, longest = append(rows, int32(row)), max(longest, len(w.tokens(row)))
		}
		all = append(all, newBatch(rows, longest))
	}
	return all
}

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
	n, began := (len(w.texts)+chunk-1)/chunk, time.Now()
	defer func() { g.tokenised.Add(int64(time.Since(began))) }()
	for len(w.chunks) < n {
		w.chunks = append(w.chunks, tokenizer.Sequences{})
	}
	return g.parallel(ctx, n, func(_ *runner, i int) error {
		w.chunks[i].Reset()
		return v.Tokenize(&w.chunks[i], prefix, w.texts[i*chunk:min((i+1)*chunk, len(w.texts))])
	})
}

// stream passes windows from a goroutine that reads and tokenises to one that runs the graph, so that the threads that
// one of them no longer needs at the end of a window work for the other. Both share the runners, so at most
// Options.Threads of them work at a time. A third goroutine emits.
func (e *Encoder) stream(ctx context.Context, lang string, texts iter.Seq2[string, error],
	emit func(rows []float32) error, progress func(rows int), log *TokenLog) (int, error) {
	prefix, err := e.graph.model.Prefix(lang)
	if err != nil {
		return 0, err
	}
	centre := e.graph.centres.of(lang)
	group, ctx := errgroup.WithContext(ctx)
	free, ready, done := make(chan *window, e.windowsAtOnce()), make(chan *window), make(chan *window)
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
	counted := counter{report: progress}
	group.Go(func() error {
		defer close(done)
		for w := range ready {
			if err := e.graph.encode(ctx, w, &counted); err != nil {
				return err
			}
			select {
			case done <- w:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		return ctx.Err()
	})
	n := 0
	group.Go(func() error {
		for w := range done {
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

// windowsAtOnce is how many windows there are: a GPU computes one while others are tokenised and emitted.
func (e *Encoder) windowsAtOnce() int {
	if e.graph.gpus != nil {
		return 3
	}
	return 2
}

// logTokens adds the ids of the window's sentences, without special tokens and the prefix, to a log, if there is one.
func (w *window) logTokens(log *TokenLog, v *tokenizer.Vocabulary, prefix model.Prefix) error {
	if log == nil {
		return nil
	}
	cut, err := v.Own(prefix)
	if err != nil {
		return err
	}
	for i := range w.texts {
		own, _ := cut(w.tokens(i))
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
