// Package device opens the backend that computes the graphs of a training step.
//
//	cpu    ONNX Runtime, the library that encoders also run on: the fastest of GoMLX's CPU backends (docs/training.md)
//	go     GoMLX's backend in pure Go: slow, needs no library; tests use it as a second implementation
//	cuda   XLA through a PJRT plugin that the user provides
package device

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute-onnx" // registers "onnx"
	_ "github.com/gomlx/compute/gobackend"
	"github.com/gomlx/go-xla/compute/xla" // registers "xla"; loads nothing until asked

	"bitextmine/encode"
	"bitextmine/internal/badinput"
)

// Names are the devices that Open supports.
var Names = []string{"cpu", "cuda", "go"}

// PluginEnv is the environment variable with the path of the PJRT plugin of a CUDA installation, such as JAX's
// xla_cuda_plugin.so.
const PluginEnv = "MINE_PJRT_CUDA"

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
	config, err := cudaConfig(os.Getenv(PluginEnv))
	if err != nil {
		return nil, err
	}
	xla.EnableAutoInstall(false) // by default it downloads plugins; it reads its own variable before main begins
	// Without this go-xla does not look for CUDA where pip installs it.
	if err := os.Setenv("GOPJRT_CUDA_CHECKS", "0"); err != nil {
		return nil, err
	}
	backend, err := compute.NewWithConfig(config)
	if err != nil {
		return nil, badinput.Errorf("%s could not be opened: %w; it must be a PJRT plugin for CUDA and find CUDA's libraries in LD_LIBRARY_PATH", PluginEnv, err)
	}
	if err := RequireFloat32("cuda", backend); err != nil {
		backend.Finalize()
		return nil, err
	}
	return backend, nil
}

// cudaConfig is GoMLX's configuration of a plugin. Its path is absolute, because go-xla takes any other for the name of
// a plugin to install. Products are not rounded to TF32, which is go-xla's default for CUDA: an export must give the
// trainer's vectors to 1e-5.
func cudaConfig(plugin string) (string, error) {
	if plugin == "" {
		return "", badinput.Errorf("the device cuda needs a PJRT plugin: name its file (JAX's xla_cuda_plugin.so) in %s, or take --device cpu", PluginEnv)
	}
	path, err := filepath.Abs(plugin)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return "", badinput.Errorf("%s names %s, which cannot be used: %w", PluginEnv, plugin, err)
	}
	if strings.Contains(path, ",") {
		return "", badinput.Errorf("%s names %s, but GoMLX cannot open a path with a comma: link to the file from another directory", PluginEnv, path)
	}
	return "xla:" + path + ",tf32=false", nil
}
