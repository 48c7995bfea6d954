// Package encode turns sentences into vectors.
//
// Package model reads the manifest of an encoder: an ONNX graph, a tokenizer and how the two fit together. Package
// tokenizer turns text into the ids that the graph gets. Open starts the encoder. Encode and EncodeFile run it.
//
// A vector depends on its sentence alone. Sentences are batched only with others of exactly the same number of tokens,
// so there is no padding, and the batch, window, thread or shard that a sentence is in does not change a bit of its
// vector. docs/encoders.md states for which graphs this holds.
package encode

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"bitextmine/encode/gpu"
	"bitextmine/encode/model"
	"bitextmine/encode/session"
	"bitextmine/encode/tokenizer"
	"bitextmine/internal/badinput"
)

// Encoder is an open encoder. Encode and Stream may be called from any number of goroutines; together they use at most
// Options.Threads threads. Close must be called last.
type Encoder struct {
	window     int // sentences in a window
	vocabulary *tokenizer.Vocabulary
	graph      *graph
	windows    sync.Pool // pool of *window
}

// Open loads a model's tokenizer and graph and verifies the graph against the manifest.
func Open(model *model.Model, options Options) (*Encoder, error) { return start(model, options, false) }

// start is Open for the manifest's output or for an inner tensor.
func start(model *model.Model, options Options, inner bool) (*Encoder, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	windowed := options.Window > 0
	options = options.withDefaults()
	e := &Encoder{window: options.Window}
	e.windows.New = func() any { return new(window) }
	var reading errgroup.Group
	reading.Go(func() (err error) {
		e.vocabulary, err = tokenizer.Open(model)
		return err
	})
	graph, err := openGraph(model, options, inner)
	if wrong := reading.Wait(); wrong != nil {
		if err == nil {
			wrong = errors.Join(wrong, graph.close())
		}
		return nil, wrong
	}
	if err != nil {
		e.vocabulary.Close()
		return nil, err
	}
	if e.graph = graph; graph.session.Table != nil && !windowed {
		e.window = min(e.window, tableWindow*options.Threads)
	}
	if graph.gpus != nil && !windowed {
		e.window = kernelsWindow
	}
	return e, nil
}

// Name is the name in the manifest.
func (e *Encoder) Name() string { return e.graph.model.Name }

// Dim is the number of values in a vector.
func (e *Encoder) Dim() int { return e.graph.model.Dim }

// Digest identifies everything that changes the vectors (Model.Digest).
func (e *Encoder) Digest() string { return e.graph.model.Digest }

// Vocabulary is the encoder's tokenizer. It ends with the encoder.
func (e *Encoder) Vocabulary() *tokenizer.Vocabulary { return e.vocabulary }

// Close frees the tokenizer, the session and, if this is the last open encoder, ONNX Runtime. No other call may be
// running or follow.
func (e *Encoder) Close() error {
	e.vocabulary.Close()
	return e.graph.close()
}

// Encode writes the vectors of texts, which are normalised sentences of one language, to dst [len(texts), Dim]; row i
// is the vector of texts[i]. A vector that is zero or not finite is a badinput error that names its row.
func (e *Encoder) Encode(ctx context.Context, lang string, texts []string, dst []float32) error {
	if len(dst) != len(texts)*e.graph.model.Dim {
		return fmt.Errorf("encode %d texts: the destination has %d values instead of %d", len(texts), len(dst),
			len(texts)*e.graph.model.Dim)
	}
	sentences := func(yield func(string, error) bool) {
		for _, text := range texts {
			if !yield(text, nil) {
				return
			}
		}
	}
	_, err := e.Stream(ctx, lang, sentences, func(rows []float32) error {
		dst = dst[copy(dst, rows):]
		return nil
	})
	return err
}

// Stream encodes texts as they arrive and calls emit with their vectors [m, Dim] in order, one window of sentences at a
// time. Its memory does not grow with the number of texts. emit must not retain the slice. Stream returns the number of
// texts that it encoded. It stops at the first error from texts or emit; an error in a vector names the row, counted
// from 0.
func (e *Encoder) Stream(ctx context.Context, lang string, texts iter.Seq2[string, error],
	emit func(rows []float32) error) (int, error) {
	return e.stream(ctx, lang, texts, emit, nil, nil)
}

// Processor names what the last bits of vectors that this process computes depend on; see session.Processor.
func Processor() string { return session.Processor() }

// Options are the settings of a running encoder. On the CPU none of them changes a vector. On GPUs the device, the
// token budget and the window may change the last bits.
type Options struct {
	// Device computes the vectors; the zero Device is the CPU. Token vectors and the tables of static encoders are
	// always computed on the CPU.
	Device gpu.Device
	// OnCPU says that this encoder computes on the CPU, beside others that compute on Device: one library must serve
	// them all.
	OnCPU bool
	// Log gets warnings; nil: slog.Default.
	Log *slog.Logger
	// Threads is the number of batches that run at once; 0 means one for each CPU. On GPUs it is the number of threads
	// that tokenise.
	Threads int
	// Library is the path of libonnxruntime.so. If it is empty, MINE_ONNXRUNTIME, the program's directory and the
	// user's cache are searched.
	Library string
	// TokenBudget is the maximum number of tokens in a batch; 0 means DefaultTokenBudget.
	TokenBudget int
	// Window is the number of sentences that are sorted by length together; 0 means DefaultWindow, and fewer for the
	// table of a static encoder, where nothing is sorted.
	Window int
}

// DefaultTokenBudget keeps a batch's activations in the second-level cache. Larger batches gain nothing on a CPU.
const DefaultTokenBudget = 1024

// gpuTokenBudget fills a GPU. If its memory is too small, batches are halved until they fit.
const gpuTokenBudget = 16384

// gpuWindow has, of most lengths, enough sentences for a whole batch on a GPU.
const gpuWindow = 32768

// DefaultWindow is large enough that almost every batch is filled with sentences of one length.
const DefaultWindow = 16384

// tableWindow is the number of sentences for each thread of a static encoder: all of them have work, and vectors are
// still in the cache when they are written.
const tableWindow = 1024

// Validate reports all settings that are not valid.
func (o Options) Validate() error {
	if o.Threads < 0 || o.TokenBudget < 0 || o.Window < 0 {
		return badinput.Errorf(
			"encoder options: threads %d, token budget %d and window %d must not be negative; 0 is the default",
			o.Threads, o.TokenBudget, o.Window)
	}
	return nil
}

func (o Options) withDefaults() Options {
	if o.Threads == 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	budget, window := DefaultTokenBudget, DefaultWindow
	if o.onGPU() {
		budget, window = gpuTokenBudget, gpuWindow
	}
	if o.TokenBudget == 0 {
		o.TokenBudget = budget
	}
	if o.Window == 0 {
		o.Window = window
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

func (o Options) onGPU() bool { return !o.Device.OnCPU() && !o.OnCPU }

// onCPU are the options of what is never computed on a GPU.
func (o Options) onCPU() Options {
	o.OnCPU = true
	return o
}
