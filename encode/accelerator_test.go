package encode

import (
	"bytes"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	ort "github.com/yalue/onnxruntime_go"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/gpu"
	"bitextmine/encode/model"
	"bitextmine/encode/session"
	"bitextmine/fixtures"
	"bitextmine/internal/cuda"
)

// pretend is a device whose GPUs are the CPU: everything up to the provider is as on GPUs.
const pretend = "pretend"

// pretending adds the device. configure, which may be nil, is called for each session.
func pretending(t testing.TB, gpus int, configure func(*ort.SessionOptions) error) gpu.Device {
	t.Helper()
	all := make([]cuda.GPU, gpus)
	for i := range all {
		all[i] = cuda.GPU{Number: i, Name: "pretended"}
	}
	session.Accelerators[pretend] = session.Accelerator{
		Provider: "CPUExecutionProvider",
		Prepare:  func(gpu.Device, string) ([]cuda.GPU, error) { return all, nil },
		Use: func(o *ort.SessionOptions, _ *model.Model, _ cuda.GPU, _ gpu.Device) error {
			if configure == nil {
				return nil
			}
			return configure(o)
		},
	}
	t.Cleanup(func() { delete(session.Accelerators, pretend) })
	return gpu.Device{Kind: pretend, All: true}
}

// transformer is an encoder with the operators of one, of dim numbers, and texts of its words.
func transformer(t testing.TB, pooling model.Pooling, dim int) (*model.Model, []string) {
	t.Helper()
	const words = 26
	rng := rand.New(rand.NewPCG(5, 5))
	vocab := []string{"[UNK]"}
	for i := range words - 1 {
		vocab = append(vocab, string(rune('a'+i)))
	}
	manifest := fmt.Sprintf(`{name: attention, onnx: m.onnx, tokenizer: {kind: wordpiece, file: v.txt}, max_tokens: 64,
		inputs: {ids: ids}, output: states, pooling: %s, dim: %d, tokens: {output: h}}`, pooling, dim)
	m, err := model.LoadFS(fstest.MapFS{
		model.FileName: {Data: []byte(manifest)},
		"m.onnx":       {Data: attention(rng, words, dim)},
		"v.txt":        {Data: []byte(strings.Join(vocab, "\n"))},
	}, model.FileName)
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, 300)
	for i := range texts {
		for range 1 + rng.IntN(30) {
			texts[i] += " " + vocab[1+rng.IntN(words-1)]
		}
	}
	return m, texts
}

func encoded(t testing.TB, m *model.Model, texts []string, o Options) []float32 {
	t.Helper()
	e, err := Open(m, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	return encodeAll(t, e, texts)
}

// worst is the smallest cosine and the largest difference of rows of unit length.
func worst(a, b []float32, dim int) (cosine, difference float64) {
	cosine = 1
	for i := 0; i < len(a); i += dim {
		sum := 0.0
		for d := range dim {
			x, y := float64(a[i+d]), float64(b[i+d])
			sum += x * y
			difference = max(difference, math.Abs(x-y))
		}
		cosine = min(cosine, sum)
	}
	return cosine, difference
}

// TestDevice: with every pooling a device gives the CPU's vectors, the same bits on one GPU and on three, and with
// float16 vectors near them.
func TestDevice(t *testing.T) {
	for _, pooling := range []model.Pooling{model.Mean, model.Max, model.CLS} {
		t.Run(string(pooling), func(t *testing.T) {
			m, texts := transformer(t, pooling, 64)
			want := encoded(t, m, texts, Options{Threads: 2})
			device := pretending(t, 1, nil)
			one := encoded(t, m, texts, Options{Threads: 2, Device: device})
			if cosine, difference := worst(one, want, m.Dim); cosine < 0.999999 || difference > 1e-5 {
				t.Errorf("cosine %v, difference %v to the CPU", cosine, difference)
			}
			pretending(t, 3, nil)
			compare(t, encoded(t, m, texts, Options{Threads: 1, Device: device}), one, m.Dim)
			device.Float16 = true
			half := encoded(t, m, texts, Options{Device: device})
			if cosine, difference := worst(half, one, m.Dim); cosine < 0.9999 || difference == 0 {
				t.Errorf("in float16: cosine %v, difference %v to float32", cosine, difference)
			}
		})
	}
}

// TestDeviceThatLeavesAPartToTheCPU: a graph of which another provider computes vectors is refused with the operators.
func TestDeviceThatLeavesAPartToTheCPU(t *testing.T) {
	m, _ := transformer(t, model.Mean, 64)
	device := pretending(t, 1, nil)
	a := session.Accelerators[pretend]
	a.Provider = "CUDAExecutionProvider"
	session.Accelerators[pretend] = a
	_, err := Open(m, Options{Device: device})
	encodetest.Refused(t, err, "encoder attention cannot be computed by CUDAExecutionProvider, which has no Gather, MatMul")
	a.Allowed = []string{"CPUExecutionProvider"}
	session.Accelerators[pretend] = a
	_, err = Open(m, Options{Device: device})
	encodetest.Refused(t, err, "no part of encoder attention was computed by CUDAExecutionProvider")
	a.Prepare = func(gpu.Device, string) ([]cuda.GPU, error) {
		return gpu.Prepare(gpu.Device{Kind: gpu.CUDA, GPUs: 1 << 63}, "")
	}
	session.Accelerators[pretend] = a
	_, err = Open(m, Options{Device: device})
	encodetest.Refused(t, err, "device")
}

// TestDeviceWithTooLittleMemory: ONNX Runtime's own error about memory makes batches smaller, from the start or
// half-way, and says so; where not even the smallest fits, that is the end.
func TestDeviceWithTooLittleMemory(t *testing.T) {
	m, texts := transformer(t, model.Mean, 64)
	want := encoded(t, m, texts, Options{})
	keep, err := Open(m, Options{}) // the library must be there for an arena of it
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = keep.Close() }()
	info, err := ort.GetMemoryInfo()
	if err != nil {
		t.Fatal(err)
	}
	limited := func(t *testing.T, bytes int) gpu.Device {
		arena, err := ort.NewArenaCfg(bytes, 1, 1<<16, -1)
		if err == nil {
			err = ort.CreateAndRegisterAllocator(info, arena)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			arena.Destroy()
			if err := ort.UnregisterAllocator(info); err != nil {
				t.Error(err)
			}
		})
		return pretending(t, 1, func(o *ort.SessionOptions) error { return o.AddSessionConfigEntry("session.use_env_allocators", "1") })
	}
	t.Run("for large batches", func(t *testing.T) {
		var log bytes.Buffer
		got := encoded(t, m, texts, Options{Device: limited(t, 6<<20), Log: slog.New(slog.NewTextHandler(&log, nil))})
		if cosine, _ := worst(got, want, m.Dim); cosine < 0.999999 {
			t.Errorf("cosine %v to the CPU", cosine)
		}
		if !strings.Contains(log.String(), "a GPU's memory is too small") || !strings.Contains(log.String(), "tokens=8192") {
			t.Errorf("the log says %q", log.String())
		}
	})
	t.Run("half-way", func(t *testing.T) {
		var log bytes.Buffer
		e, err := Open(m, Options{Device: limited(t, 6<<20), TokenBudget: 64, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = e.Close() }()
		e.graph.budget.Store(1 << 20) // simulates another process taking the memory
		same := slices.Repeat([]string{strings.Repeat("a ", 60)}, 1000)
		if got := encodeAll(t, e, append(same, texts...)); !within(got[1000*m.Dim:], want, m.Dim) {
			t.Error("the vectors are others")
		}
		if !strings.Contains(log.String(), "a GPU's memory is too small") {
			t.Errorf("the log says %q", log.String())
		}
	})
	t.Run("for any", func(t *testing.T) {
		_, err := Open(m, Options{Device: limited(t, 1<<18), Log: slog.New(slog.DiscardHandler)})
		if err == nil || !strings.Contains(err.Error(), "memory") {
			t.Errorf("got %v", err)
		}
	})
}

func within(a, b []float32, dim int) bool {
	cosine, _ := worst(a, b, dim)
	return cosine > 0.999999
}

// TestDeviceRefuses what is computed on the CPU, where a GPU would give other numbers or none.
func TestDeviceRefuses(t *testing.T) {
	device := pretending(t, 1, nil)
	bag, err := model.Load(fixtures.Encoder)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Open(bag, Options{Device: device})
	encodetest.Refused(t, err, "is a table, whose rows the CPU adds faster")
	compare(t, encoded(t, bag, []string{"a ferry"}, Options{Device: device, OnCPU: true}), encoded(t, bag, []string{"a ferry"}, Options{}), bag.Dim)

	m, texts := transformer(t, model.Mean, 64)
	tokens, err := OpenTokens(m, Options{Device: device})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tokens.Close() }()
	if err := tokens.Contextual(t.Context(), "en", texts[:3], func(int, []int32, []float32) error { return nil }); err != nil {
		t.Error(err)
	}
}
