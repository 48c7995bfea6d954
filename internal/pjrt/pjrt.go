// Package pjrt finds and opens PJRT plugins: shared libraries in which XLA compiles and runs programs for one kind of
// device, such as JAX's xla_cuda_plugin.so for NVIDIA's GPUs. Training and search open the same plugins here.
//
// A device's name is one of
//
//	cuda       the plugin that the environment variable MINE_PJRT_CUDA names
//	xla:PATH   the plugin in a file
package pjrt

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gomlx/go-xla/pjrt"

	"bitextmine/internal/badinput"
	"bitextmine/internal/pjrt/quiet"
)

func init() { quiet.End() } // go-xla is initialised before this package

// Env is the environment variable with the path of the PJRT plugin of a CUDA installation.
const Env = "MINE_PJRT_CUDA"

// CUDA and Prefix make the names of devices.
const (
	CUDA   = "cuda"
	Prefix = "xla:"
)

// Is reports whether a name denotes a device with a plugin.
func Is(device string) bool { return device == CUDA || strings.HasPrefix(device, Prefix) }

// Find returns the absolute path of a device's plugin. It is absolute because go-xla takes any other for the name of a
// plugin to install. Errors are badinput: no plugin is named, or its file cannot be used.
func Find(device string) (string, error) {
	by, plugin := "the device "+device, strings.TrimPrefix(device, Prefix)
	if device == CUDA {
		if by, plugin = Env, os.Getenv(Env); plugin == "" {
			return "", badinput.Errorf(
				"CUDA needs a PJRT plugin: name its file (JAX's xla_cuda_plugin.so) in %s, or use the CPU", Env)
		}
	}
	if plugin == "" {
		return "", badinput.Errorf("%s names no plugin: write the path of a PJRT plugin after %s", by, Prefix)
	}
	path, err := filepath.Abs(plugin)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return "", badinput.Errorf("%s names %s, which cannot be used: %w", by, plugin, err)
	}
	if strings.Contains(path, ",") {
		return "", badinput.Errorf(
			"%s names %s, but GoMLX cannot open a path with a comma: link to the file from another directory", by, path)
	}
	// Without this go-xla does not look for CUDA where pip installs it.
	return path, os.Setenv("GOPJRT_CUDA_CHECKS", "0")
}

// Open opens a client of all devices of the plugin in a file. Errors are badinput: the file is no plugin, or it finds
// no device.
func Open(path string) (*pjrt.Client, error) {
	plugin, err := pjrt.GetPlugin(path)
	if err != nil {
		return nil, Refused(path, err)
	}
	// Plugins for GPUs reserve most of the memory otherwise, also that of a second client.
	client, err := plugin.NewClient(pjrt.NamedValuesMap{"preallocate": false})
	if err != nil && strings.Contains(err.Error(), "Unexpected option") {
		client, err = plugin.NewClient(nil) // those for CPUs may have no options
	}
	if err != nil {
		return nil, Refused(path, err)
	}
	return client, nil
}

var (
	opening sync.Mutex
	opened  = map[string]*pjrt.Client{}
)

// Shared is Open, once for each file in a process. The client stays open until the process ends.
func Shared(path string) (*pjrt.Client, error) {
	opening.Lock()
	defer opening.Unlock()
	if client := opened[path]; client != nil {
		return client, nil
	}
	client, err := Open(path)
	if err == nil {
		opened[path] = client
	}
	return client, err
}

// Refused is the badinput error of a plugin that cannot be opened.
func Refused(path string, err error) error {
	reason, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	return badinput.Errorf(
		"%s could not be opened: %s; it must be a PJRT plugin, and one for CUDA must find a GPU and CUDA's libraries (in LD_LIBRARY_PATH, or beside it as pip installs them)",
		path, reason)
}
