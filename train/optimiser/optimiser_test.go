package optimiser

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"bitextmine/train/weights"
)

// golden.json is written by testdata/golden.py.
type golden struct {
	Start                           []float64
	Gradients                       [][]float64
	Adam, AdamW, Adafactor, AMSGrad []float64
}

func readGolden(t *testing.T) golden {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func single(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

func settings(kind string) Settings {
	s := Defaults()
	s.Kind, s.LearningRate, s.Schedule = kind, 0.05, "constant"
	if kind != "adafactor" {
		s.WeightDecay = 0.1
	}
	if kind == "amsgrad" {
		s.Beta2 = 0.7 // so that second moments fall, and AMSGrad differs from Adam
	}
	return s
}

func TestStepsEqualTheReference(t *testing.T) {
	g := readGolden(t)
	for kind, want := range map[string][]float64{"adam": g.Adam, "adamw": g.AdamW, "adafactor": g.Adafactor, "amsgrad": g.AMSGrad} {
		t.Run(kind, func(t *testing.T) {
			w := &weights.Tensor{Name: "w", Shape: []int{3, 4}, Data: single(g.Start)}
			w.NeedGrad()
			o, err := New(settings(kind), []*weights.Tensor{w})
			if err != nil {
				t.Fatal(err)
			}
			for i, gradient := range g.Gradients {
				copy(w.Grad, single(gradient))
				mustStep(t, o, i+1, len(g.Gradients), 1)
			}
			for i, x := range w.Data {
				if math.Abs(float64(x)-want[i]) > 2e-6 {
					t.Errorf("weight %d is %g, the reference has %g", i, x, want[i])
				}
			}
			for _, x := range w.Grad {
				if x != 0 {
					t.Fatal("a step left a gradient behind")
				}
			}
		})
	}
}

func mustStep(t testing.TB, o *Optimiser, step, total, batches int) float64 {
	t.Helper()
	norm, err := o.Step(step, total, batches)
	if err != nil {
		t.Fatal(err)
	}
	return norm
}

// A table of which a step touched some rows changes there as a table of those rows alone, and nowhere else.
func TestTouchedRowsAlone(t *testing.T) {
	g := readGolden(t)
	whole := &weights.Tensor{Name: "w", Shape: []int{3, 4}, Data: single(g.Start)}
	part := &weights.Tensor{Name: "w", Shape: []int{2, 4}, Data: append(single(g.Start)[:4:4], single(g.Start)[8:]...)}
	for _, w := range []*weights.Tensor{whole, part} {
		w.NeedGrad()
		o, err := New(settings("adam"), []*weights.Tensor{w})
		if err != nil {
			t.Fatal(err)
		}
		for i, gradient := range g.Gradients {
			gradient := single(gradient)
			if w == whole {
				copy(w.Grad[:4], gradient[:4])
				copy(w.Grad[8:], gradient[8:])
				w.Touched = []int32{0, 2}
			} else {
				copy(w.Grad, append(gradient[:4:4], gradient[8:]...))
			}
			mustStep(t, o, i+1, 5, 1)
		}
	}
	for i, x := range whole.Row(1) {
		if x != float32(g.Start[4+i]) {
			t.Errorf("an untouched row changed from %g to %g", g.Start[4+i], x)
		}
	}
	for i, x := range part.Data {
		if y := whole.Row(i / 4 * 2)[i%4]; x != y {
			t.Errorf("number %d of the touched rows is %g in the table and %g without it", i, y, x)
		}
	}
}

func TestClippingAndNaN(t *testing.T) {
	w := &weights.Tensor{Name: "w", Shape: []int{2}, Data: []float32{0, 0}, Grad: []float32{3, 4}}
	s := settings("adam")
	s.Clip, s.WeightDecay, s.Beta1, s.Epsilon = 1, 0, 0, 1
	o, err := New(s, []*weights.Tensor{w})
	if err != nil {
		t.Fatal(err)
	}
	if norm := mustStep(t, o, 1, 1, 1); norm != 5 {
		t.Errorf("the norm of (3, 4) is given as %g", norm)
	}
	// The clipped gradient is (0.6, 0.8); the second moment without its bias is its square, so the step is lr x g /
	// (|g| + 1).
	for i, g := range []float64{0.6, 0.8} {
		if want := -0.05 * g / (g + 1); math.Abs(float64(w.Data[i])-want) > 1e-7 {
			t.Errorf("weight %d is %g, want %g", i, w.Data[i], want)
		}
	}
	before := w.Data[0]
	w.Grad[0] = float32(math.NaN())
	if norm := mustStep(t, o, 2, 2, 1); !math.IsNaN(norm) || w.Data[0] != before {
		t.Errorf("a NaN gradient gave the norm %g and moved a weight from %g to %g", norm, before, w.Data[0])
	}
}

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		schedule    string
		step        int
		warmup, end int
		want        float64
	}{
		{"constant", 5, 10, 100, 0.5}, {"constant", 50, 10, 100, 1},
		{"linear", 10, 10, 110, 1}, {"linear", 60, 10, 110, 0.5}, {"linear", 110, 10, 110, 0.1},
		{"cosine", 60, 10, 110, 0.5}, {"cosine", 10, 10, 110, 1},
		{"cosine_restarts", 10, 10, 110, 1}, {"cosine_restarts", 35, 10, 110, 0.5}, {"cosine_restarts", 60, 10, 110, 1},
		{"cosine_restarts", 85, 10, 110, 0.5}, {"cosine_restarts", 110, 10, 110, 0.1}, {"cosine_restarts", 5, 10, 110, 0.5},
		{"inverse_sqrt", 4000, 4000, 9, 1}, {"inverse_sqrt", 16000, 4000, 9, 0.5},
	} {
		s := Settings{LearningRate: 1, Schedule: c.schedule, Warmup: c.warmup, Floor: 0.1, Cycles: 2}
		if got := s.rate(c.step, c.end); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s at step %d of %d after %d of warm-up is %g, want %g", c.schedule, c.step, c.end, c.warmup, got, c.want)
		}
	}
}

func TestValidateReportsAllTogether(t *testing.T) {
	for _, s := range []Settings{{Schedule: "cosine_restarts"}, {Schedule: "cosine", Cycles: 2}, {Schedule: "cosine_restarts", Cycles: -1}} {
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), "cycles is") {
			t.Errorf("%+v: %v", s, err)
		}
	}
	err := Settings{Kind: "sgd", Schedule: "step", Beta2: 0.9, Epsilon: 1, LearningRate: -1}.Validate()
	for _, want := range []string{`"sgd"`, `"step"`, "learning_rate is -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the problems %v do not name %s", err, want)
		}
	}
}

func BenchmarkAdam(b *testing.B) {
	w := weights.New(weights.Spec{Name: "w", Shape: []int{15000, 512}, Init: weights.Normal, Scale: 1}, 1)
	w.NeedGrad()
	o, err := New(settings("adam"), []*weights.Tensor{w})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(4 * len(w.Data)))
	for i := 0; b.Loop(); i++ {
		mustStep(b, o, i+1, b.N+1, 1)
	}
}
