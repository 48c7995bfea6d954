package boundary

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/gpu"
	"bitextmine/fixtures"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

func open(t testing.TB, dir string, threshold float64, threads int) *Splitter {
	t.Helper()
	m, err := Load(dir, threshold)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(m, "", gpu.Device{}, threads)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

type goldenCase struct {
	Text      string
	Threshold float64
	Tokens    int
	Ends      []int
}

func goldenCases(t testing.TB) (all []goldenCase) {
	t.Helper()
	data, err := encodetest.SplitterGolden()
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestGolden: encodetest/sat/make.py has wtpsplit's way of reading a model.
func TestGolden(t *testing.T) {
	dir := encodetest.Splitter(t, nil)
	long := 0
	for _, threads := range []int{1, 3} {
		s := open(t, dir, 0.25, threads)
		for _, c := range goldenCases(t) {
			s.model.threshold = c.Threshold
			if tokens, err := s.tokens(c.Text); err != nil || len(tokens) != c.Tokens {
				t.Errorf("%.30q: %d tokens, want %d (%v)", c.Text, len(tokens), c.Tokens, err)
			}
			got, err := s.Ends(t.Context(), c.Text)
			if err != nil || !slices.Equal(got, c.Ends) && len(got)+len(c.Ends) > 0 {
				t.Errorf("%.30q at %v: %v, want %v (%v)", c.Text, c.Threshold, got, c.Ends, err)
			}
			if c.Tokens > room {
				long++
			}
		}
	}
	if long == 0 {
		t.Error("no text has several windows")
	}
}

// TestAtOnce: texts that are divided at once are divided as alone.
func TestAtOnce(t *testing.T) {
	s := open(t, encodetest.Splitter(t, nil), 0.25, 2)
	var wait sync.WaitGroup
	for _, c := range goldenCases(t) {
		if c.Threshold != 0.25 {
			continue
		}
		for range 2 {
			wait.Go(func() {
				if got, err := s.Ends(t.Context(), c.Text); err != nil || !slices.Equal(got, c.Ends) && len(c.Ends) > 0 {
					t.Errorf("%.30q: %v, want %v (%v)", c.Text, got, c.Ends, err)
				}
			})
		}
	}
	wait.Wait()
}

func TestDigest(t *testing.T) {
	var seen []string
	for _, dir := range []string{encodetest.Splitter(t, nil), encodetest.Splitter(t, map[string][]byte{"model_optimized.onnx": []byte("a")}), encodetest.Splitter(t, map[string][]byte{tokenizerFile: []byte("a")})} {
		for _, threshold := range []float64{0.25, 0.5} {
			m, err := Load(dir, threshold)
			if err != nil {
				t.Fatal(err)
			}
			if slices.Contains(seen, m.Digest) {
				t.Errorf("digest %s stands for two models", m.Digest)
			}
			seen = append(seen, m.Digest)
		}
	}
	if m, err := Load(encodetest.Splitter(t, nil), 0.25); err != nil || m.Digest != seen[0] {
		t.Errorf("the digest depends on the directory: %v", err)
	}
}

// graph is one node with the given inputs and outputs, whose type is int64 and whose rank is 2, unless it says float.
func graph(inputs, outputs []string) []byte {
	message := func(b []byte, number protowire.Number, m []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(b, number, protowire.BytesType), m)
	}
	number := func(b []byte, n protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(b, n, protowire.VarintType), v)
	}
	info := func(name string) []byte {
		name, kind, _ := strings.Cut(name, ":")
		element, rank := uint64(7), 2 // int64
		if kind != "" {
			element, rank = 1, len(kind)-len("float")
		}
		var shape []byte
		for range rank {
			shape = message(shape, 1, message(nil, 2, []byte("n")))
		}
		tensor := message(number(nil, 1, element), 2, shape)
		return message(message(nil, 1, []byte(name)), 2, message(nil, 1, tensor))
	}
	var g []byte
	for k, out := range outputs {
		name, _, _ := strings.Cut(out, ":")
		in, kind, _ := strings.Cut(inputs[k%len(inputs)], ":")
		node := message(message(nil, 1, []byte(in)), 2, []byte(name))
		if strings.Contains(out, ":float") && kind == "" {
			node = message(message(node, 4, []byte("Cast")), 5, number(number(message(nil, 1, []byte("to")), 3, 1), 20, 2))
		} else {
			node = message(node, 4, []byte("Identity"))
		}
		g = message(g, 1, node)
	}
	g = message(g, 2, []byte("g"))
	for _, in := range inputs {
		g = message(g, 11, info(in))
	}
	for _, out := range outputs {
		g = message(g, 12, info(out))
	}
	return message(message(number(nil, 1, 9), 7, g), 8, number(nil, 2, 18))
}

func TestRefusals(t *testing.T) {
	both := []string{"input_ids", "attention_mask"}
	for says, changed := range map[string]map[string][]byte{
		"has no model_optimized.onnx":    {"model_optimized.onnx": nil},
		"has no sentencepiece.bpe.model": {tokenizerFile: nil},
		"not a SentencePiece model":      {tokenizerFile: []byte("text")},
		"not a graph that ONNX Runtime":  {"model_optimized.onnx": []byte("text")},
		"the inputs attention_mask, ids": {"model_optimized.onnx": graph([]string{"ids", "attention_mask"}, []string{"logits"})},
		"no output logits":               {"model_optimized.onnx": graph(both, []string{"vectors"})},
		"[batch, tokens, labels]":        {"model_optimized.onnx": graph(both, []string{"logits"})},
		"input_ids is no int64":          {"model_optimized.onnx": graph([]string{"input_ids:float..", "attention_mask"}, []string{"logits:float.."})},
		"attention_mask is no float16":   {"model_optimized.onnx": graph([]string{"input_ids", "attention_mask:float..."}, []string{"logits:float.."})},
	} {
		m, err := Load(encodetest.Splitter(t, changed), 0.25)
		if err == nil {
			_, err = Open(m, "", gpu.Device{}, 1)
		}
		encodetest.Refused(t, err, says)
	}
	for _, threshold := range []float64{0, 1, -1} {
		_, err := Load(encodetest.Splitter(t, nil), threshold)
		encodetest.Refused(t, err, "splitter_threshold is")
	}
	_, err := Load(filepath.Join(t.TempDir(), "none"), 0.25)
	encodetest.Refused(t, err, "name a directory")
}

// TestFailures: what only a text shows.
func TestFailures(t *testing.T) {
	large, err := os.ReadFile("../../fixtures/models/" + fixtures.Encoder + "/spm.model")
	if err != nil {
		t.Fatal(err)
	}
	s := open(t, encodetest.Splitter(t, map[string][]byte{tokenizerFile: large}), 0.25, 1)
	_, err = s.Ends(t.Context(), "Überraschungsmoment für die Geschwindigkeitsbegrenzung.")
	encodetest.Refused(t, err, "has tokens that")
	s = open(t, encodetest.Splitter(t, nil), 0.25, 1)
	s.tensors.labels = 2
	_, err = s.Ends(t.Context(), "Das Haus.")
	encodetest.Refused(t, err, "does not give each token its logits")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s.threads <- struct{}{} // the only one is taken
	if _, err := s.Ends(ctx, "Das Haus."); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
