// Package device opens what the graphs of a training step are computed on.
//
//	cpu    ONNX Runtime, the same library that encoders run on: the fastest of GoMLX's CPU backends (docs/training.md)
//	go     GoMLX's backend in pure Go: slow, needs no library; the tests' second opinion
//	cuda   XLA through a PJRT plugin that the user brings
package device

import (
	"os"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute-onnx" // registers "onnx"
	_ "github.com/gomlx/compute/gobackend"
	_ "github.com/gomlx/go-xla/compute/xla" // registers "xla"; loads nothing until asked

	"bitextmine/encode"
	"bitextmine/internal/badinput"
)

// Names are the devices that Open knows.
var Names = []string{"cpu", "cuda", "go"}

// PluginEnv names the PJRT plugin of a CUDA installation, such as JAX's xla_cuda_plugin.so.
const PluginEnv = "MINE_PJRT_CUDA"

// libraryEnv is where GoMLX's ONNX Runtime backend looks for the library.
const libraryEnv = "ONNXRUNTIME_SHARED_LIBRARY_PATH"

// Open opens a device. library names ONNX Runtime's library, or is empty for the usual places. What is asked for is opened or an error: nothing is put
// in its place.
func Open(name, library string) (compute.Backend, error) {
	switch name {
	case "cpu":
		return openONNX(library)
	case "go":
		// In parallel mode the backend deadlocks on two cores (v0.1.0).
		return compute.NewWithConfig("go:ops_sequential")
	case "cuda":
		return openCUDA()
	}
	return nil, badinput.Errorf("the device %q is not known: take cpu, cuda or go", name)
}

func openONNX(library string) (compute.Backend, error) {
	path, err := encode.FindLibrary(library)
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

func openCUDA() (compute.Backend, error) {
	plugin := os.Getenv(PluginEnv)
	if plugin == "" {
		return nil, badinput.Errorf("the device cuda needs a PJRT plugin: name its file (JAX's xla_cuda_plugin.so) in %s, or take --device cpu", PluginEnv)
	}
	if _, err := os.Stat(plugin); err != nil {
		return nil, badinput.Errorf("%s names %s, which cannot be used: %w", PluginEnv, plugin, err)
	}
	// Without these go-xla fetches plugins of its own and looks for CUDA where pip does not put it.
	for key, value := range map[string]string{"GOMLX_NO_AUTO_INSTALL": "1", "GOPJRT_CUDA_CHECKS": "0"} {
		if err := os.Setenv(key, value); err != nil {
			return nil, err
		}
	}
	backend, err := compute.NewWithConfig("xla:" + plugin)
	if err != nil {
		return nil, badinput.Errorf("%s could not be opened: %w; it must be a PJRT plugin for CUDA and find CUDA's libraries in LD_LIBRARY_PATH", plugin, err)
	}
	return backend, nil
}
