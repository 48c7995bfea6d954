package architecture

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/model"
	"bitextmine/encode/tokenizer"
	"bitextmine/train/data"
	"bitextmine/train/device"
	"bitextmine/train/encoder"
	"bitextmine/train/export"
	"bitextmine/train/layers"
	_ "bitextmine/train/start"
	"bitextmine/train/traintest"
)

// trained opens an encoder's directory as mine train does.
func trained(t *testing.T, dir string, change func(*encoder.Config)) encoder.Encoder {
	t.Helper()
	e, err := openTrained(t, dir, change)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func openTrained(t *testing.T, dir string, change func(*encoder.Config)) (encoder.Encoder, error) {
	t.Helper()
	c := encoder.Defaults()
	c.Kind, c.Start = "imported", dir
	if change != nil {
		change(&c)
	}
	m, err := model.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	v, err := tokenizer.OpenIn(dir, m.Tokenizer)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.Close)
	backend, err := device.Open("cpu", "")
	if err != nil {
		t.Fatal(err)
	}
	return c.Of().New(encoder.Preset{Config: c, Tokenizer: m.Tokenizer, MaxTokens: m.MaxTokens, Seed: 1}, v, backend)
}

// padded are sentences as a batch of training has them.
func padded(sentences [][]int32) data.Side {
	side := data.Side{N: len(sentences)}
	for _, s := range sentences {
		side.Length = max(side.Length, len(s))
		side.Lengths = append(side.Lengths, int32(len(s)))
	}
	side.IDs = make([]int32, side.N*side.Length)
	for i, s := range sentences {
		copy(side.IDs[i*side.Length:], s)
	}
	return side
}

// trainable writes the model of a golden file as an imported encoder with two poolings.
func trainable(t *testing.T, name string) (dir string, g golden) {
	t.Helper()
	dir, g = sample(t, name, nil)
	if _, err := build(dir, 1<<20, export.Head{Poolings: []string{"mean", "last"}}); err != nil {
		t.Fatal(err)
	}
	return dir, g
}

func vectors(t *testing.T, e encoder.Encoder, side data.Side) []float32 {
	t.Helper()
	got, err := e.Forward(t.Context(), side, 0)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestTraining: of every architecture the training computes the vectors of the authors' program in a padded batch, and
// exports an encoder that gives them, too; adapters change nothing before they learn, and afterwards the export has
// what they learned. The gradient is that of the vectors.
func TestTraining(t *testing.T) {
	everyGolden(t, func(t *testing.T, _ int, name string) {
		dir, g := trainable(t, name)
		side := padded(g.Sentences)
		var want []float32
		for _, v := range g.Vectors {
			want = append(append(want, v[0]...), v[1]...)
		}
		e := trained(t, dir, nil)
		traintest.Near(t, "the training's vectors", vectors(t, e, side), want, 2e-5)
		slope(t, e, side)

		e = trained(t, dir, func(c *encoder.Config) { c.Imported.LoRA = layers.LoRA{Rank: 2, Alpha: 3} })
		traintest.Near(t, "vectors with new adapters", vectors(t, e, side), want, 2e-5)
		exported(t, e, dir, g, want)
		adapters := 0
		for _, w := range e.Weights() {
			if strings.HasSuffix(w.Name, layers.AdapterOut) {
				adapters++
				copy(w.Data, traintest.Random(uint64(adapters), len(w.Data)))
			}
			if !strings.Contains(w.Name, ".lora.") && !w.Frozen {
				t.Errorf("%s learns beside the adapters", w.Name)
			}
		}
		if adapters < 8 {
			t.Errorf("%d adapters", adapters)
		}
		slope(t, e, side)
		learned := vectors(t, e, side)
		if slices.Equal(learned, want) {
			t.Error("the adapters change no vector")
		}
		exported(t, e, dir, g, learned)
	})
}

// exported writes an encoder in training as its export and compares its vectors.
func exported(t *testing.T, e encoder.Encoder, start string, g golden, want []float32) {
	t.Helper()
	graph, _, err := e.Export("sample")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := graph.Write(dir, "model.onnx"); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"model.yaml", "vocab.txt"} {
		raw, err := os.ReadFile(filepath.Join(start, file))
		if err != nil {
			t.Fatal(err)
		}
		traintest.Write(t, filepath.Join(dir, file), string(raw))
	}
	compare(t, dir, g.Sentences, slices.Collect(slices.Chunk(want, e.Dim())))
}

// slope compares the gradient of a weighted sum of the vectors' numbers with a difference, along the gradients of some
// of the tensors that learn.
func slope(t *testing.T, e encoder.Encoder, side data.Side) {
	t.Helper()
	along := traintest.Random(7, side.N*e.Dim())
	for i := range along {
		along[i] /= float32(len(along))
	}
	at := func() (sum float64) {
		for i, x := range vectors(t, e, side) {
			sum += float64(x) * float64(along[i])
		}
		return sum
	}
	if err := e.Backward(t.Context(), side, 0, along); err != nil {
		t.Fatal(err)
	}
	checked := 0
	for i, w := range e.Weights() {
		if w.Frozen || i%3 > 0 { // all take long
			continue
		}
		norm := 0.0
		for _, x := range w.Grad {
			norm += float64(x) * float64(x)
		}
		norm = math.Sqrt(norm)
		if norm < 1e-2 {
			continue // rounding is as large
		}
		checked++
		was, step := slices.Clone(w.Data), 1e-3
		move := func(by float64) float64 {
			for i := range w.Data {
				w.Data[i] = was[i] + float32(by*float64(w.Grad[i])/norm)
			}
			return at()
		}
		got := (move(step) - move(-step)) / (2 * step)
		copy(w.Data, was)
		if !(math.Abs(got-norm) <= 0.05*norm+3e-4) {
			t.Errorf("the gradient of %s has length %g, but the vectors change by %g", w.Name, norm, got)
		}
		w.ZeroGrad()
	}
	if checked < 2 {
		t.Errorf("only %d tensors have a gradient", checked)
	}
}

// TestFrozenLayers: they are those of the published names.
func TestFrozenLayers(t *testing.T) {
	for _, name := range []string{"modernbert", "gte", "gemma3-both-ways", "mpnet", "distilbert", "t5"} {
		dir, _ := trainable(t, name)
		e := trained(t, dir, func(c *encoder.Config) { c.Freeze = encoder.FrozenSettings{Embeddings: true, Layers: 1} })
		learned := 0
		for _, w := range e.Weights() {
			first := strings.Contains(w.Name, ".0.") || strings.HasPrefix(w.Name, "embeddings.") || w.Name == "places"
			if strings.HasPrefix(w.Name, "encoder.block.1.") { // T5's layers have parts with numbers
				first = false
			}
			if w.Frozen != first {
				t.Errorf("%s: %s is frozen: %v", name, w.Name, w.Frozen)
			}
			if !w.Frozen {
				learned++
			}
		}
		if learned == 0 {
			t.Errorf("%s: nothing learns", name)
		}
		_, err := openTrained(t, dir, func(c *encoder.Config) { c.Freeze = encoder.FrozenSettings{Layers: 9} })
		if want := "encoder.freeze.layers is 9: it must be from 0 to"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// TestStartsThatCannotBeTrained: each is refused by a sentence that says what to do.
func TestStartsThatCannotBeTrained(t *testing.T) {
	for _, c := range []struct {
		name, manifest, says string
		head                 export.Head
	}{
		{"a mean that is subtracted", "centre: {file: vocab.txt}\n", "a mean is subtracted from its vectors: remove centre", export.Head{Poolings: []string{"mean"}}},
		{"8 bits", "quantised: 1\n", "its weights are of 8 bits", export.Head{Poolings: []string{"mean"}}},
		{"a weighted mean", "", "its pooling counts the tokens", export.Head{Poolings: []string{"weighted"}}},
		{"a mean over the root", "", "its pooling counts the tokens", export.Head{Poolings: []string{"mean_sqrt_len"}}},
	} {
		dir, _ := sample(t, "modernbert", nil)
		if _, err := build(dir, 1<<20, c.head); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(filepath.Join(dir, "model.yaml"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprint(f, c.manifest); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := openTrained(t, dir, nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}
