// Package device opens the backend that computes the graphs of a training step.
//
//	cpu        ONNX Runtime, the library that encoders also run on (docs/training.md)
//	go         GoMLX's backend in pure Go: slow, needs no library; tests use it as a second implementation
//	cuda       XLA through the PJRT plugin for CUDA that the user provides
//	xla:PATH   XLA through the PJRT plugin in that file
package device

import (
	"errors"
	"os"
	"runtime"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute-onnx" // registers "onnx"
	_ "github.com/gomlx/compute/gobackend"
	"github.com/gomlx/go-xla/compute/xla" // registers "xla"; loads nothing until asked
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/encode/session"
	"bitextmine/internal/badinput"
	"bitextmine/internal/pjrt"
	"bitextmine/train/weights"
)

// libraryEnv is the environment variable in which GoMLX's ONNX Runtime backend looks for the library.
const libraryEnv = "ONNXRUNTIME_SHARED_LIBRARY_PATH"

// Open opens a device. library is the path of ONNX Runtime's library, or empty for the usual places. If the device
// cannot be opened, it is an error; no other device replaces it.
func Open(name, library string) (compute.Backend, error) {
	switch name {
	case "cpu":
		return openONNX(library)
	case "go":
		// In parallel mode the backend deadlocks on two cores (v0.1.0).
		return compute.NewWithConfig("go:ops_sequential")
	}
	if pjrt.Is(name) {
		return openPlugin(name)
	}
	return nil, badinput.Errorf("the device %q is not known: take cpu, cuda, go or xla:PATH", name)
}

func openONNX(library string) (compute.Backend, error) {
	path, err := session.FindLibrary(library)
	if err != nil {
		return nil, err
	}
	if err := os.Setenv(libraryEnv, path); err != nil {
		return nil, err
	}
	backend, err := compute.NewWithConfig("onnx:cpu")
	if err != nil {
		return nil, badinput.Errorf("%s could not be opened for training: %w", path, err)
	}
	return backend, nil
}

// openPlugin opens the PJRT plugin of a device. Products are not rounded to TF32, which is go-xla's default for CUDA:
// an export must give the trainer's vectors to 1e-5.
func openPlugin(name string) (compute.Backend, error) {
	path, err := pjrt.Find(name)
	if err != nil {
		return nil, err
	}
	xla.EnableAutoInstall(false) // the default downloads plugins, and xla reads its own variable before main begins
	backend, err := compute.NewWithConfig("xla:" + path + ",tf32=false")
	if err != nil {
		return nil, pjrt.Refused(path, err)
	}
	if err := requireFloat32(name, backend); err != nil {
		backend.Finalize()
		return nil, err
	}
	return backend, nil
}

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
