package objective_test

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/gomlx/compute"
	g "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/encoder"
	"bitextmine/train/objective"
)

// limit ends the run with a panic if a test takes more than a minute: a graph that does not end cannot be stopped
// otherwise.
func limit(t *testing.T) {
	t.Helper()
	timer := time.AfterFunc(time.Minute, func() { panic(t.Name() + ": not done after a minute") })
	t.Cleanup(func() { timer.Stop() })
}

// stepOf sorts the nodes of a graph: vectors of the views, heads, inputs.
func stepOf(views int, heads []string, nodes []*g.Node) objective.Step {
	s := objective.Step{Heads: map[string]*g.Node{}, Inputs: nodes[views+len(heads):]}
	for _, node := range nodes[:views] {
		s.Views = append(s.Views, encoder.Encoded{Vectors: node})
	}
	for i, name := range heads {
		s.Heads[name] = nodes[views+i]
	}
	return s
}

// graded is a term with its gradients by what is learned.
type graded struct {
	name      string
	value     float32
	gradients [][]float32
}

// grade computes each term of an objective on its own. args are the vectors of the views, the heads, the inputs.
func grade(t *testing.T, backend compute.Backend, o objective.Objective, views int, heads []string, args []*tensors.Tensor) []graded {
	t.Helper()
	learned := views + len(heads)
	exec, err := g.NewExec(backend, func(nodes []*g.Node) []*g.Node {
		var results []*g.Node
		for _, value := range o.Loss(stepOf(views, heads, nodes)) {
			results = append(append(results, value), g.Gradient(value, nodes[:learned]...)...)
		}
		return results
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	flat := run(t, exec, args)
	var out []graded
	for i, term := range o.Terms() {
		own := flat[i*(1+learned):][:1+learned]
		out = append(out, graded{term.Name, own[0][0], own[1:]})
	}
	return out
}

func run(t testing.TB, exec *g.Exec, args []*tensors.Tensor) [][]float32 {
	t.Helper()
	boxed := make([]any, len(args))
	for i, a := range args {
		boxed[i] = a
	}
	outputs, err := exec.Call(boxed...)
	runtime.KeepAlive(args)
	if err != nil {
		t.Fatal(err)
	}
	var flat [][]float32
	for _, out := range outputs {
		numbers, err := tensors.CopyFlatData[float32](out)
		if err != nil {
			t.Fatal(err)
		}
		flat = append(flat, numbers)
		if err := out.FinalizeAll(); err != nil {
			t.Fatal(err)
		}
	}
	return flat
}

// near wants all numbers within 1e-4 of the largest one wanted.
func near(t *testing.T, what string, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	var largest float64
	for _, w := range want {
		largest = max(largest, math.Abs(w))
	}
	for i, w := range want {
		if !(math.Abs(float64(got[i])-w) <= 1e-4*largest+1e-9) {
			t.Errorf("%s: number %d is %v, want %v", what, i, got[i], w)
			return
		}
	}
}
