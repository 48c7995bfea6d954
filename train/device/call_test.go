package device

import (
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// TestCallFreesWhatItTakes: nothing that a step brings stays after it, on either device.
func TestCallFreesWhatItTakes(t *testing.T) {
	for _, name := range []string{"go", "cpu"} {
		backend, err := Open(name, "")
		if err != nil {
			t.Fatal(err)
		}
		exec, err := graph.NewExec(backend, graph.Add)
		if err != nil {
			t.Fatal(err)
		}
		x, y := tensors.FromFlatDataAndDimensions([]float32{1, 2}, 2), tensors.FromFlatDataAndDimensions([]float32{3, 4}, 2)
		out, err := Call(exec, []*tensors.Tensor{x, y})
		if err != nil || out[0][0] != 4 || out[0][1] != 6 {
			t.Errorf("%s: %v, %v", name, out, err)
		}
		if x.Ok() || y.Ok() {
			t.Errorf("%s: the arguments are still there: %v, %v", name, x.Ok(), y.Ok())
		}
		exec.Finalize()
		backend.Finalize()
	}
}
