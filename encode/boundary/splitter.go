// Package boundary finds the ends of sentences with a model that a user brings, of the interface of wtpsplit's SaT
// models: an ONNX graph that gets the tokens of XLM-RoBERTa and gives each a logit, that a sentence ends after it.
//
// A directory has the graph, model_optimized.onnx or model.onnx, and the tokenizer, sentencepiece.bpe.model. Windows of
// 510 tokens, between the tokens <s> and </s>, begin every 64 tokens; a token's logits in all windows that have it are
// averaged (wtpsplit/extract.py). A sentence ends after a token whose probability is above a threshold.
package boundary

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	ort "github.com/yalue/onnxruntime_go"
	"golang.org/x/sync/errgroup"

	"bitextmine/encode/gpu"
	"bitextmine/encode/sentencepiece"
	"bitextmine/encode/session"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

const (
	// room is how many tokens of a text are in a window, and stride how far apart windows begin: wtpsplit's defaults.
	room, stride = 510, 64
	// batch is how many windows are computed before their logits are added up.
	batch = 64
)

// Splitter is an open model. Ends may be called from any number of goroutines; Close must be called last.
type Splitter struct {
	model   *Model
	pieces  *sentencepiece.Model
	session *ort.DynamicAdvancedSession
	tensors tensors
	threads chan struct{} // limits the windows computed at once
}

// Open loads a model in ONNX Runtime. The library is the one of encode.Options. device is the device of the process's
// encoders, whose library must serve both, although windows are computed on the CPU. One thread computes each window
// separately, so the result depends neither on threads nor on other windows.
func Open(m *Model, library string, device gpu.Device, threads int) (_ *Splitter, err error) {
	s := &Splitter{model: m, threads: make(chan struct{}, max(1, threads))}
	data, err := os.ReadFile(m.tokenizer)
	if err != nil {
		return nil, badinput.Errorf("splitter: %w", err)
	}
	if s.pieces, err = sentencepiece.New(data); err != nil {
		return nil, badinput.Errorf("%s: %w: put XLM-RoBERTa's there", m.tokenizer, err)
	}
	if err := session.Acquire(library, device); err != nil {
		s.pieces.Close()
		return nil, err
	}
	if err := s.load(); err != nil {
		s.pieces.Close()
		return nil, errors.Join(err, session.Release())
	}
	return s, nil
}

// load verifies the graph and loads it.
func (s *Splitter) load() error {
	path := s.model.graph
	graph, inputs, outputs, err := session.OpenGraph(path)
	if err != nil {
		return badinput.Errorf(
			"%s is not a graph that ONNX Runtime can load: %w: name a directory with the ONNX file of a SaT model",
			path, err)
	}
	if s.tensors, err = verify(path, inputs, outputs); err != nil {
		return err
	}
	graph.Takes, graph.Output = []string{idsInput, maskInput}, logitsOutput
	if s.session, err = graph.Load(); err != nil {
		return badinput.Errorf("splitter: %w", err)
	}
	return nil
}

// Digest is the model's.
func (s *Splitter) Digest() string { return s.model.Digest }

// Close frees the model. No other call may be running or follow.
func (s *Splitter) Close() error {
	s.pieces.Close()
	return errors.Join(s.session.Destroy(), session.Release())
}

// Special tokens of XLM-RoBERTa, and how its ids follow from those of its SentencePiece model, whose first three are
// special.
const (
	first, last, unknown = 0, 2, 3
	special, shift       = 3, 1
)

// token is an id of the graph, and where its text ends.
type token struct {
	id  int64
	end int
}

// tokens splits a text line by line: line ends are white space to the tokenizer.
func (s *Splitter) tokens(text string) (all []token, err error) {
	at := 0
	for line := range strings.Lines(text) {
		ids, ends, err := s.pieces.Places(line)
		if err != nil {
			return nil, err
		}
		for k, id := range ids {
			t := token{int64(id) + shift, at + ends[k]}
			if id < special {
				t.id = unknown
			}
			all = append(all, t)
		}
		at += len(line)
	}
	return all, nil
}

// Ends returns where sentences of a text end, in bytes from its start, in order.
func (s *Splitter) Ends(ctx context.Context, text string) (ends []int, err error) {
	tokens, err := s.tokens(text)
	if err != nil || len(tokens) == 0 {
		return nil, err
	}
	logits, err := s.logits(ctx, tokens)
	if err != nil {
		return nil, err
	}
	threshold := math.Log(s.model.threshold / (1 - s.model.threshold))
	for k, t := range tokens {
		// Of tokens that end at the same place the last one counts.
		if float64(logits[k]) > threshold && t.end > 0 && (k+1 == len(tokens) || tokens[k+1].end > t.end) {
			ends = append(ends, t.end)
		}
	}
	return ends, nil
}

// logits averages the logits of each token over the windows that have it.
func (s *Splitter) logits(ctx context.Context, tokens []token) ([]float32, error) {
	n := len(tokens)
	size := min(room, n)
	var begins []int
	for at := 0; ; at += stride {
		begins = append(begins, min(at, n-size))
		if at+size >= n {
			break
		}
	}
	sums, counts := make([]float32, n), make([]float32, n)
	for len(begins) > 0 {
		some := begins[:min(batch, len(begins))]
		begins = begins[len(some):]
		found := make([][]float32, len(some))
		group, ctx := errgroup.WithContext(ctx)
		for k, begin := range some {
			group.Go(func() (err error) {
				select {
				case s.threads <- struct{}{}:
				case <-ctx.Done():
					return ctx.Err()
				}
				defer func() { <-s.threads }()
				found[k], err = s.window(tokens[begin : begin+size])
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		for k, begin := range some {
			for i, logit := range found[k] {
				sums[begin+i] += logit
				counts[begin+i]++
			}
		}
	}
	for k := range sums {
		sums[k] /= counts[k]
	}
	return sums, nil
}

// The files of a model.
var graphFiles = []string{"model_optimized.onnx", "model.onnx"}

const tokenizerFile = "sentencepiece.bpe.model"

// version changes with what this package makes of a model's logits.
const version = 1

// Model is the files of a model and the threshold of a run.
type Model struct {
	// Digest identifies everything that changes where sentences end.
	Digest string

	graph, tokenizer string // paths
	threshold        float64
}

// Load finds the files of a model in a directory and takes their digest. threshold is the probability above which a
// sentence ends.
func Load(directory string, threshold float64) (*Model, error) {
	if !(threshold > 0 && threshold < 1) {
		return nil, badinput.Errorf(
			"splitter_threshold is %v: give a probability between 0 and 1, 0.25 for the sat-*-sm models", threshold)
	}
	m := &Model{tokenizer: filepath.Join(directory, tokenizerFile), threshold: threshold}
	for _, name := range graphFiles {
		path := filepath.Join(directory, name)
		if _, err := os.Stat(path); err == nil {
			m.graph = path
			break
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, badinput.Errorf("splitter %s: %w", directory, err)
		}
	}
	if m.graph == "" {
		return nil, badinput.Errorf("splitter %s has no %s: name a directory with the ONNX file of a SaT model",
			directory, graphFiles[0])
	}
	fields := struct {
		Version   int
		Files     []string
		Threshold float64
	}{version, nil, threshold}
	for _, path := range []string{m.graph, m.tokenizer} {
		_, sum, err := atomicfile.Digest(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, badinput.Errorf("splitter %s has no %s: put XLM-RoBERTa's there, which SaT models are made for",
				directory, tokenizerFile)
		}
		if err != nil {
			return nil, badinput.Errorf("splitter %s: %w", directory, err)
		}
		fields.Files = append(fields.Files, sum)
	}
	canonical, err := json.Marshal(fields)
	if err != nil {
		return nil, fmt.Errorf("digest of splitter %s: %w", directory, err)
	}
	m.Digest = atomicfile.DigestOf(canonical)[:16]
	return m, nil
}
