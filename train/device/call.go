package device

import (
	"errors"
	"runtime"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/weights"
)

// Resident holds weights whose values stay on the device from step to step.
type Resident interface {
	// Value is the value of a weight on the device; nil: the weight is on the host. It belongs to the Resident.
	Value(w *weights.Tensor) *tensors.Tensor
	// Add takes over a gradient of a weight whose value it has.
	Add(w *weights.Tensor, gradient *tensors.Tensor) error
}

// Arguments are the arguments of a call, in order. Lent ones stay valid after it.
type Arguments struct {
	all  []*tensors.Tensor
	lent []bool
}

// Give adds arguments that the call frees.
func (a *Arguments) Give(args ...*tensors.Tensor) {
	a.all, a.lent = append(a.all, args...), append(a.lent, make([]bool, len(args))...)
}

// Weight adds the value of a weight: the resident one, or that of the host.
func (a *Arguments) Weight(w *weights.Tensor, resident Resident) {
	if resident != nil {
		if value := resident.Value(w); value != nil {
			a.all, a.lent = append(a.all, value), append(a.lent, true)
			return
		}
	}
	a.Give(tensors.FromFlatDataAndDimensions(w.Data, w.Shape...))
}

// Call runs a graph and copies its float32 outputs to the host. It frees the arguments and the outputs, because the
// garbage collector would not, and they are megabytes per step.
func Call(exec *graph.Exec, args []*tensors.Tensor) ([][]float32, error) {
	var a Arguments
	a.Give(args...)
	results, _, err := a.Call(exec, -1)
	return results, err
}

// Call runs a graph and copies its first float32 outputs to the host, or with -1 all. The others stay on the device and
// belong to the caller.
func (a *Arguments) Call(exec *graph.Exec, first int) (results [][]float32, rest []*tensors.Tensor, err error) {
	boxed := make([]any, len(a.all))
	for i, arg := range a.all {
		boxed[i] = arg
	}
	outputs, err := exec.Call(boxed...)
	runtime.KeepAlive(a.all) // the device reads the arguments in place
	if err != nil {
		return nil, nil, err
	}
	if first < 0 {
		first = len(outputs)
	}
	results = make([][]float32, first)
	for i, out := range outputs[:first] {
		if results[i], err = tensors.CopyFlatData[float32](out); err != nil {
			return nil, nil, err
		}
		if err := out.FinalizeAll(); err != nil {
			return nil, nil, err
		}
	}
	for i, arg := range a.all {
		if !a.lent[i] {
			err = errors.Join(err, arg.FinalizeAll())
		}
	}
	return results, outputs[first:], err
}
