package architecture

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode"
	"bitextmine/encode/gpu"
	"bitextmine/encode/layers"
	"bitextmine/encode/model"
	"bitextmine/index/indextest"
	"bitextmine/internal/badinput"
	"bitextmine/internal/cuda"
	"bitextmine/train/export"
	"bitextmine/train/weights"
)

// broad makes a golden file's model so wide that a GPU's kernels compute it.
func broad(width, inner int) func(map[string]any, map[string]*weights.Tensor) {
	return func(config map[string]any, tensors map[string]*weights.Tensor) {
		config["hidden_size"], config["intermediate_size"], config["max_position_embeddings"] = width, inner, 202
		rng := rand.New(rand.NewPCG(1, 2))
		for _, tensor := range tensors {
			n := 1
			for i, d := range tensor.Shape {
				tensor.Shape[i] = map[int]int{16: width, 24: inner}[d]
				if strings.Contains(tensor.Name, "position") && d == 24 {
					tensor.Shape[i] = 202
				}
				if tensor.Shape[i] == 0 {
					tensor.Shape[i] = d
				}
				n *= tensor.Shape[i]
			}
			tensor.Data = make([]float32, n)
			for i := range tensor.Data {
				if tensor.Data[i] = float32(rng.NormFloat64()) * 0.08; len(tensor.Shape) == 1 && strings.HasSuffix(tensor.Name, "Norm.weight") {
					tensor.Data[i]++
				}
			}
		}
	}
}

// randomSentences are sentences of some lengths, in no order.
func randomSentences() (all [][]int32) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, length := range []int{5, 130, 64, 1, 65, 2, 40, 128, 7, 5, 33, 63, 129, 3} {
		ids := make([]int32, length)
		for j := range ids {
			ids[j] = rng.Int32N(40)
		}
		all = append(all, ids)
	}
	return all
}

// encodedIDs are the vectors of an encoder of ids.
func encodedIDs(t *testing.T, dir string, o encode.Options, sentences [][]int32) []float32 {
	t.Helper()
	m, err := model.Load(filepath.Join(dir, model.FileName))
	if err != nil {
		t.Fatal(err)
	}
	e, err := encode.Open(m, o)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]float32, len(sentences)*e.Dim())
	if err := errors.Join(e.EncodeIDs(t.Context(), sentences, got), e.Close()); err != nil {
		t.Fatal(err)
	}
	return got
}

// byKernels is what keeps the program's own kernels from computing an encoder on the driver's GPUs.
func byKernels(t *testing.T, dir string, device gpu.Device) error {
	t.Helper()
	m, err := model.Load(filepath.Join(dir, model.FileName))
	if err != nil {
		t.Fatal(err)
	}
	driver, err := cuda.OpenDriver()
	if err != nil {
		t.Fatal(err)
	}
	return encode.ByKernels(m, device, driver.GPUs)
}

func cosine(a, b []float32) float64 {
	ab, aa, bb := 0.0, 0.0, 0.0
	for i, x := range a {
		ab, aa, bb = ab+float64(x)*float64(b[i]), aa+float64(x)*float64(x), bb+float64(b[i])*float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// TestOnGPUs: the program's own kernels give the vectors of the CPU, rounded; those of a sentence do not depend on the
// others, nor on how many GPUs there are.
func TestOnGPUs(t *testing.T) {
	float16 := gpu.Device{Kind: gpu.CUDA, All: true, Float16: true}
	for _, c := range []struct {
		name         string
		pooling      string
		width, inner int
		major        string
	}{
		{"mean", "mean", 128, 256, "MAJOR=9"},
		{"first token", "cls", 256, 384, "MAJOR=9"},
		{"Ampere", "mean", 256, 384, "MAJOR=8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, _ := sample(t, "xlm-roberta", broad(c.width, c.inner))
			if _, err := build(dir, []int{1 << 30, 100}[c.width%256/128], export.Head{Poolings: []string{c.pooling}}); err != nil {
				t.Fatal(err)
			}
			sentences := randomSentences()
			want := encodedIDs(t, dir, encode.Options{Threads: 2}, sentences)
			indextest.Driver(t, c.major)
			if err := byKernels(t, dir, float16); err != nil {
				t.Error(err)
			}
			got := encodedIDs(t, dir, encode.Options{Threads: 2, Device: float16}, sentences)
			least, same := 1.0, true
			for i := range sentences {
				least = min(least, cosine(want[i*c.width:][:c.width], got[i*c.width:][:c.width]))
			}
			if least < 0.9999 {
				t.Errorf("the least cosine is %v", least)
			}
			indextest.Driver(t, c.major, "GPUS=2")
			two := encodedIDs(t, dir, encode.Options{Threads: 2, Device: float16, TokenBudget: 300}, sentences)
			for i := range two {
				same = same && two[i] == got[i]
			}
			if !same {
				t.Error("small batches on two GPUs give other vectors than a large one")
			}
		})
	}
}

// TestFamilyOnGPUs: the program's own kernels know the graphs of BERT's kin, and of no other precision or provider.
func TestFamilyOnGPUs(t *testing.T) {
	indextest.Driver(t)
	for _, name := range []string{"bert", "distilbert"} {
		dir, _ := sample(t, name, func(config map[string]any, tensors map[string]*weights.Tensor) {
			broad(128, 256)(config, tensors)
			config["hidden_act"], config["dim"], config["hidden_dim"] = "gelu", 128, 256
		})
		if _, err := build(dir, 1<<30, export.Head{Poolings: []string{"mean"}}); err != nil {
			t.Fatal(err)
		}
		if err := byKernels(t, dir, gpu.Device{Kind: gpu.CUDA, Float16: true}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for _, d := range []gpu.Device{{Kind: gpu.CUDA}, {Kind: gpu.TensorRT, Float16: true}} {
			if err := byKernels(t, dir, d); !errors.Is(err, layers.ErrOther) {
				t.Errorf("%s on %s: %v", name, d.Arithmetic(), err)
			}
		}
	}
}

// TestOtherEncodersOnGPUs: what the program's own kernels do not compute is ONNX Runtime's, with a line that says so.
func TestOtherEncodersOnGPUs(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, c := range []struct {
		name, says string
		changed    func(map[string]any, map[string]*weights.Tensor)
	}{
		{"xlm-roberta", "compute capability 7.0, and they need 8.0", broad(128, 256)},
		{"xlm-roberta", "it has 192 numbers a token, 256 within a layer, and heads of 48", broad(192, 256)},
		{"xlm-roberta", "layer 1 is not that of BERT", func(config map[string]any, tensors map[string]*weights.Tensor) {
			broad(128, 256)(config, tensors)
			config["hidden_act"] = "relu"
		}},
		{"mpnet", "its layers have operators that those of BERT do not have", nil},
		{"modernbert", "it does not begin with a normalised sum", nil},
	} {
		major := "MAJOR=9"
		if strings.Contains(c.says, "7.0") {
			major = "MAJOR=7"
		}
		indextest.Driver(t, major)
		dir, _ := sample(t, c.name, c.changed)
		if _, err := build(dir, 1<<30, export.Head{Poolings: []string{"mean"}}); err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(filepath.Join(dir, model.FileName))
		if err != nil {
			t.Fatal(err)
		}
		var log bytes.Buffer
		device := gpu.Device{Kind: gpu.CUDA, GPUs: 1, Float16: true}
		if err := byKernels(t, dir, device); !errors.Is(err, layers.ErrOther) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: the program's own kernels do not compute it because of %v, want %q", c.name, err, c.says)
		}
		_, err = encode.Open(m, encode.Options{Device: device, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if !badinput.Is(err) || !strings.Contains(err.Error(), "gpu setup") {
			t.Errorf("%s: ONNX Runtime's provider is not here, and the error is %v", c.name, err)
		}
		if said := log.String(); !strings.Contains(said, "ONNX Runtime computes this encoder") || !strings.Contains(said, c.says) {
			t.Errorf("%s: the log has %q, want %q", c.name, said, c.says)
		}
	}
}
