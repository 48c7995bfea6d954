package device

import (
	"errors"
	"runtime"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Call runs a graph and copies its float32 outputs to the host. It frees the arguments and the outputs, because the
// garbage collector would not, and they are megabytes per step.
func Call(exec *graph.Exec, args []*tensors.Tensor) ([][]float32, error) {
	boxed := make([]any, len(args))
	for i, arg := range args {
		boxed[i] = arg
	}
	outputs, err := exec.Call(boxed...)
	runtime.KeepAlive(args) // the device reads the arguments in place
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
	for _, arg := range args {
		err = errors.Join(err, arg.FinalizeAll())
	}
	return results, err
}
