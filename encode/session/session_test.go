package session

import (
	"math"
	"math/rand/v2"
	"testing"

	ort "github.com/yalue/onnxruntime_go"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/gpu"
	"bitextmine/encode/model"
	"bitextmine/encode/static"
	"bitextmine/fixtures"
)

func TestMain(m *testing.M) { encodetest.Main(m) }

// TestExact: of matrices without signs, ONNX Runtime sums 8-bit products as the program does, on every CPU.
func TestExact(t *testing.T) {
	if err := Acquire("", gpu.Device{}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := Release(); err != nil {
			t.Error(err)
		}
	}()
	m, err := model.Load(fixtures.Encoder)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(m, false)
	if err != nil {
		t.Fatal(err)
	}
	data := s.file.graph.CutAfter(static.Sums, s.Table.Dim(), m.Output)
	other := exact(data)
	if len(other) <= len(data) {
		t.Fatalf("%d bytes of %d: no product has another zero point", len(other), len(data))
	}
	loaded, err := load(m, other, s.Takes, m.Output, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := loaded.Destroy(); err != nil {
			t.Error(err)
		}
	}()
	const n = 20
	sums, want, got := make([]float32, n*s.Table.Dim()), make([]float32, n*m.Dim), make([]float32, n*m.Dim)
	r := rand.New(rand.NewPCG(5, 5))
	for i := range sums {
		sums[i] = float32(r.NormFloat64())
	}
	s.Head.Vectors(new(static.Memory), sums, n, want)
	in, err := ort.NewTensor(ort.NewShape(n, int64(s.Table.Dim())), sums)
	if err != nil {
		t.Fatal(err)
	}
	out, err := ort.NewTensor(ort.NewShape(n, int64(m.Dim)), got)
	if err != nil {
		t.Fatal(err)
	}
	if err := loaded.Run([]ort.Value{in}, []ort.Value{out}); err != nil {
		t.Fatal(err)
	}
	for i, x := range got {
		if math.Abs(float64(x-want[i])) > 2e-3 { // a number at the middle of two steps may be rounded to the other
			t.Errorf("number %d of row %d is %v, and ONNX Runtime's %v", i%m.Dim, i/m.Dim, want[i], x)
		}
	}
	if err := in.Destroy(); err != nil {
		t.Error(err)
	}
	if err := out.Destroy(); err != nil {
		t.Error(err)
	}
}

// TestTooLargeForTheMachine: weights that do not fit into memory are refused before they are read.
func TestTooLargeForTheMachine(t *testing.T) {
	memory := machineMemory
	defer func() { machineMemory = memory }()
	m, err := model.LoadFS(encodetest.Changed(t), model.FileName)
	if err != nil {
		t.Fatal(err)
	}
	if err := fits(m); err != nil {
		t.Error(err)
	}
	machineMemory = func() int64 { return 1 << 10 }
	encodetest.Refused(t, fits(m), "GB of weights, but this machine has 0.0 GB of memory")
}
