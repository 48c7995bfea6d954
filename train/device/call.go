package device

import (
	"errors"
	"runtime"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Call runs a graph on tensors, which it frees, and copies the float32 outputs to the host.
func Call(exec *graph.Exec, args []any) ([][]float32, error) {
	outputs, err := exec.Call(args...)
	runtime.KeepAlive(args) // the device reads the inputs where they lie
	if err != nil {
		return nil, err
	}
	results := make([][]float32, len(outputs))
	for i, out := range outputs {
		if results[i], err = tensors.CopyFlatData[float32](out); err != nil {
			return nil, err
		}
		err = errors.Join(err, out.FinalizeAll())
	}
	for _, arg := range args {
		err = errors.Join(err, arg.(*tensors.Tensor).FinalizeAll())
	}
	return results, err
}
