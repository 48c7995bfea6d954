package start

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
	"bitextmine/train/data"
	"bitextmine/train/encoder"
	"bitextmine/train/export"
	"bitextmine/train/traintest"
)

const rows, width, dim, hidden = 30, traintest.StaticWidth, traintest.StaticDim, 200

// distilled is the graph of a static encoder with a table of so many bits.
func distilled(t *testing.T, bits int) (*model.Model, []byte) {
	t.Helper()
	return &model.Model{Manifest: model.Manifest{Name: "static", Output: "sentence", Dim: dim}}, traintest.StaticGraph(t, rows, bits)
}

func open(t *testing.T, bits int) *Static {
	t.Helper()
	m, raw := distilled(t, bits)
	e, err := readStatic(m, raw)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// side has 70 sentences of 1 to 5 ids: more than one chunk.
func side() data.Side {
	r := rand.New(rand.NewPCG(1, 2))
	s := data.Side{N: 70, Length: 5, IDs: make([]int32, 70*5), Lengths: make([]int32, 70)}
	for i := range s.N {
		s.Lengths[i] = 1 + r.Int32N(5)
		for j := range int(s.Lengths[i]) {
			s.IDs[i*s.Length+j] = r.Int32N(rows)
		}
	}
	return s
}

func forward(t *testing.T, e *Static, s data.Side) []float32 {
	t.Helper()
	v, err := e.Forward(t.Context(), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestForward compares vectors with the formula.
func TestForward(t *testing.T) {
	e, s := open(t, 8), side()
	got := forward(t, e, s)
	w1, w2, b2 := e.network.Weights["w1"].Values, e.network.Weights["w2"].Values, e.network.Weights["b2"].Values
	for i := range s.N {
		var x [width]float64
		for _, id := range s.Sentence(i) {
			for k, v := range e.table().Row(int(id)) {
				x[k] += pace * float64(v) / math.Sqrt(float64(s.Lengths[i]))
			}
		}
		var d [dim]float64
		squares := 0.0
		for c := range d {
			d[c] = float64(b2[c])
			for h := range hidden {
				a := 0.0
				for k := range x {
					a += x[k] * float64(w1[k*hidden+h])
				}
				d[c] += math.Tanh(a) * float64(w2[h*dim+c])
			}
			squares += d[c] * d[c]
		}
		for c := range d {
			if want := d[c] / math.Sqrt(squares); math.Abs(want-float64(got[i*dim+c])) > 1e-5 {
				t.Fatalf("number %d of sentence %d is %g, want %g", c, i, got[i*dim+c], want)
			}
		}
	}
}

// TestHeadInEightBits: the default encoder, whose head is in 8 bits, is trained on from nearly its own vectors.
func TestHeadInEightBits(t *testing.T) {
	m, err := model.Load("use-static")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := m.ReadFile(m.ONNX)
	if err != nil {
		t.Fatal(err)
	}
	e, err := readStatic(m, raw)
	if err != nil {
		t.Fatal(err)
	}
	g, err := onnxgraph.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	s := side()
	for i := range s.IDs {
		s.IDs[i] *= 1000
	}
	sums, err := e.sums(t.Context(), s, 1)
	if err != nil {
		t.Fatal(err)
	}
	want, got := make([]float32, s.N*m.Dim), forward(t, e, s)
	static.FindHead(g, m.Output, static.Find(g, m.Output)).Vectors(&static.Memory{}, sums, s.N, want)
	for i := range s.N {
		if c := embedding.Dot(want[i*m.Dim:][:m.Dim], got[i*m.Dim:][:m.Dim]); c < 0.997 || c > 1.001 {
			t.Errorf("sentence %d has the cosine %v to itself", i, c)
		}
	}
	if e.Backward(t.Context(), s, 1, got) != nil || len(e.Weights()) < 3 {
		t.Errorf("%d weights", len(e.Weights()))
	}
}

// TestBackward compares the gradients of the table and of the head with differences.
func TestBackward(t *testing.T) {
	e, s := open(t, 8), side()
	up := traintest.Random(7, s.N*dim)
	if err := e.Backward(t.Context(), s, 1, up); err != nil {
		t.Fatal(err)
	}
	loss := func() (sum float64) {
		for i, v := range forward(t, e, s) {
			sum += float64(v) * float64(up[i])
		}
		return sum
	}
	if n := len(e.Weights()); n != 4 {
		t.Fatalf("%d weights, want the table and three of the head", n)
	}
	for _, w := range e.Weights() {
		for at := 0; at < len(w.Data); at += 1 + len(w.Data)/20 {
			step := float32(1e-2)
			if w == e.table() {
				step /= pace
			}
			was := w.Data[at]
			w.Data[at] = was + step
			high := loss()
			w.Data[at] = was - step
			want := (high - loss()) / (2 * float64(step))
			w.Data[at] = was
			if got := float64(w.Grad[at]); math.Abs(got-want) > 3e-3*(1+math.Abs(want)) {
				t.Errorf("%s[%d]: the gradient is %g, want %g", w.Name, at, got, want)
			}
		}
	}
}

// TestExport: what is exported gives the vectors of training, which sees the rounded table; without a step it is the
// start; and it can be trained again.
func TestExport(t *testing.T) {
	s := side()
	for _, c := range []struct {
		start, bits int
		within      float64 // float16 has the scales
	}{{8, 8, 1e-5}, {8, 4, 1e-3}, {4, 8, 2e-2}} {
		start := open(t, c.start)
		want := forward(t, start, s)
		trained := open(t, c.start)
		trained.bits, trained.rows = c.bits, tableOf(trained, trained.round)
		seen := forward(t, trained, s)
		_, published, err := trained.Export("again")
		if err != nil {
			t.Fatal(err)
		}
		exact := published.(*Static)
		if exact.bits != c.bits || exact.power != 0.5 {
			t.Errorf("%d bits are exported as %d, with power %v", c.bits, exact.bits, exact.power)
		}
		for i, v := range forward(t, exact, s) {
			if d := math.Abs(float64(v - seen[i])); d > 1e-3 {
				t.Fatalf("%d bits from %d: the exported vector is off by %g from what training saw", c.bits, c.start, d)
			}
			if d := math.Abs(float64(v - want[i])); c.bits >= c.start && d > c.within {
				t.Fatalf("%d bits from %d: the exported vector is off by %g from the start's", c.bits, c.start, d)
			}
		}
		if _, _, err := exact.Export("third"); err != nil {
			t.Error(err)
		}
	}
}

func TestWhatCannotBeTrained(t *testing.T) {
	m, raw := distilled(t, 8)
	m.Output = "a"
	if _, err := readStatic(m, raw); err == nil || !strings.Contains(err.Error(), "200 columns instead of 6") {
		t.Errorf("a manifest with other dimensions: %v", err)
	}
	g, _, err := encoder.NewTable("bag", 2, make([]float32, 6), nil).Export("bag")
	if err != nil {
		t.Fatal(err)
	}
	if raw, err = g.Model(); err != nil {
		t.Fatal(err)
	}
	m.Output = export.Vectors
	if _, err := readStatic(m, raw); err == nil || !strings.Contains(err.Error(), "no static encoder") {
		t.Errorf("a bag: %v", err)
	}
	for bits, valid := range map[int]bool{0: true, 4: true, 8: true, 16: false} {
		if err := (encoder.StaticSettings{Bits: bits}).Validate(); (err == nil) != valid {
			t.Errorf("%d bits: %v", bits, err)
		}
	}
}
