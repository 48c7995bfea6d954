package device

import (
	"errors"
	"runtime"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"
)

// Call runs a graph and copies its float32 outputs to the host. It frees args; lent, which come after them, stay their owner's.
func Call(exec *graph.Exec, args []any, lent ...*tensors.Tensor) ([][]float32, error) {
	all := slices.Clone(args)
	for _, t := range lent {
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
	for _, arg := range args {
		err = errors.Join(err, arg.(*tensors.Tensor).FinalizeAll())
	}
	return results, err
}
