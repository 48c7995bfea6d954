package gpu

/*
#include <stdlib.h>
#include "preload.h"
*/
import "C"

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"bitextmine/internal/badinput"
	"bitextmine/internal/cuda"
)

// Library is one that a provider needs.
type Library struct {
	Name string // such as libcublas.so.13
	Err  error  // why it cannot be loaded
}

// later are libraries that providers and cuDNN open by name when an operator first needs them. A name is found then if
// the library was opened before, from wherever.
var later = []string{"libnvrtc.so.13", "libnvrtc.so.12", "libcudnn.so.9", "libcufft.so.12", "libcufft.so.11"}

// providers lists the files of a device's providers beside ONNX Runtime's library. TensorRT leaves to CUDA what it
// cannot compute.
func providers(runtime, kind string) []string {
	dir := filepath.Dir(runtime)
	files := []string{filepath.Join(dir, "libonnxruntime_providers_cuda.so")}
	if kind == TensorRT {
		files = append(files, filepath.Join(dir, "libonnxruntime_providers_tensorrt.so"))
	}
	return files
}

// Has says whether a device's providers are beside ONNX Runtime's library.
func Has(runtime, kind string) bool {
	return !slices.ContainsFunc(providers(runtime, kind), func(file string) bool {
		_, err := os.Stat(file)
		return err != nil
	})
}

// Preload loads the libraries that a device's providers need, and says of each whether it is there: from beside ONNX
// Runtime's library, else where the system's loader finds it (LD_LIBRARY_PATH, ldconfig). Providers do not look beside
// themselves, so their libraries must be in the process before them.
func Preload(runtime, kind string) ([]Library, error) {
	var needed []Library
	for _, file := range providers(runtime, kind) {
		names, err := imports(file)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if !slices.ContainsFunc(needed, func(l Library) bool { return l.Name == name }) {
				needed = append(needed, Library{Name: name})
			}
		}
	}
	dir := filepath.Dir(runtime)
	load(dir, needed)
	var more []Library
	for _, name := range later {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			more = append(more, Library{Name: name})
		}
	}
	load(dir, more) // those that are missing are missed by graphs alone that need them
	return needed, nil
}

// imports lists the libraries of NVIDIA's that a provider needs besides the driver, which OpenDriver looks for.
func imports(provider string) (names []string, err error) {
	f, err := elf.Open(provider)
	if errors.Is(err, os.ErrNotExist) {
		return nil, badinput.Errorf(
			"%s was not found, so the ONNX Runtime there is one for the CPU alone: run mine gpu setup, or name another in MINE_ONNXRUNTIME",
			provider)
	}
	if err != nil {
		return nil, badinput.Errorf("%s is no library: %w: run mine gpu setup again, or replace it", provider, err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	all, err := f.ImportedLibraries()
	if err != nil {
		return nil, badinput.Errorf("%s cannot be read: %w: run mine gpu setup again, or replace it", provider, err)
	}
	for _, name := range all {
		if name != cuda.DriverName && (strings.HasPrefix(name, "libcu") || strings.HasPrefix(name, "libnv")) {
			names = append(names, name)
		}
	}
	return names, nil
}

// load opens libraries and sets the errors of those that cannot be. One may need another of the list, so those that
// fail are tried again as long as another one opens.
func load(dir string, all []Library) {
	pending := make([]*Library, len(all))
	for i := range all {
		pending[i] = &all[i]
	}
	for {
		before := len(pending)
		pending = slices.DeleteFunc(pending, func(l *Library) bool {
			path := filepath.Join(dir, l.Name)
			if _, err := os.Stat(path); err != nil {
				path = l.Name // the system's loader looks for it
			}
			l.Err = open(path)
			return l.Err == nil
		})
		if len(pending) == 0 || len(pending) == before {
			return
		}
	}
}

func open(path string) (err error) {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	cuda.Guard(func() {
		if reason := C.preload_open(name); reason != nil {
			err = errors.New(C.GoString(reason))
			C.free(unsafe.Pointer(reason))
		}
	})
	return err
}

// Missing is the badinput error of libraries that cannot be loaded; nil: all can.
func Missing(runtime string, needed []Library) error {
	var reasons []string
	other := 0
	for _, l := range needed {
		if l.Err == nil {
			continue
		}
		reasons = append(reasons, fmt.Sprintf("%s (%v)", l.Name, l.Err))
		if major := soname(l.Name, "libcudart.so."); major > 0 {
			other = otherCUDA(major)
		}
	}
	if reasons == nil {
		return nil
	}
	hint := "run mine gpu setup, or install CUDA's libraries where ldconfig or LD_LIBRARY_PATH finds them"
	if other > 0 {
		hint = fmt.Sprintf(
			"this ONNX Runtime is for another CUDA than the CUDA %d that is installed: run mine gpu setup, or name an ONNX Runtime for CUDA %d",
			other, other)
	}
	return badinput.Errorf("%s cannot use a GPU, as its provider lacks %s: %s", runtime, strings.Join(reasons, ", "),
		hint)
}

// otherCUDA is another major version of CUDA that the system's loader finds; 0: there is none.
func otherCUDA(major int) int {
	for _, other := range []int{major - 1, major + 1} {
		if open(fmt.Sprintf("libcudart.so.%d", other)) == nil {
			return other
		}
	}
	return 0
}

// Major returns the major version of CUDA that the libraries need; 0 if they do not name one.
func Major(needed []Library) int {
	for _, l := range needed {
		if major := soname(l.Name, "libcudart.so."); major > 0 {
			return major
		}
	}
	return 0
}

// soname is the number at the end of a library's name.
func soname(name, prefix string) int {
	rest, ok := strings.CutPrefix(name, prefix)
	if n, err := strconv.Atoi(rest); ok && err == nil {
		return n
	}
	return 0
}

// Supports refuses a driver that is older than the CUDA of the libraries.
func Supports(d cuda.Driver, needed []Library) error {
	major := Major(needed)
	if major == 0 || d.CUDA >= 1000*major {
		return nil
	}
	oldest := map[int]string{12: "525", 13: "580"}[major]
	return badinput.Errorf(
		"the NVIDIA driver supports CUDA %s, but the libraries are of CUDA %d: install driver %s or newer, or libraries of CUDA %d with mine gpu setup --cuda %d",
		d.Version(), major, oldest, d.CUDA/1000, d.CUDA/1000)
}
