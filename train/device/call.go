package device

import (
	"errors"
	"runtime"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Call runs a graph on args and then inputs, all of them tensors, and copies its float32 outputs to the host. It frees all of them: the garbage collector would
// not, and a step's are megabytes.
func Call(exec *graph.Exec, args []any, inputs ...*tensors.Tensor) ([][]float32, error) {
	all := slices.Clone(args)
	for _, t := range inputs {
		all = append(all, t)
	}
	outputs, err := exec.Call(all...)
	runtime.KeepAlive(all) // the device reads the inputs where they lie
	if err != nil {
		return nil, err
	}
	results := make([][]float32, len(outputs))
	for i, out := range outputs {
		if results[i], err = tensors.CopyFlatData[float32](out); err != nil {
			return nil, err
		}
		if err := out.FinalizeAll(); err != nil {
			return nil, err
		}
	}
	for _, arg := range all {
		err = errors.Join(err, arg.(*tensors.Tensor).FinalizeAll())
	}
	return results, err
}
