// Package device opens the backend that computes the graphs of a training step.
//
//	cpu        ONNX Runtime, the library that encoders also run on (docs/training.md)
//	go         GoMLX's backend in pure Go: slow, needs no library; tests use it as a second implementation
//	cuda       XLA through the PJRT plugin for CUDA that the user provides
//	xla:PATH   XLA through the PJRT plugin in that file
package device

import (
	"os"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute-onnx" // registers "onnx"
	_ "github.com/gomlx/compute/gobackend"
	"github.com/gomlx/go-xla/compute/xla" // registers "xla"; loads nothing until asked

	"bitextmine/encode/session"
	"bitextmine/internal/badinput"
	"bitextmine/internal/pjrt"
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
	if err := RequireFloat32(name, backend); err != nil {
		backend.Finalize()
		return nil, err
	}
	return backend, nil
}
