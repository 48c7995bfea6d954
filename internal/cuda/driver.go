// Package cuda is the driver of NVIDIA's GPUs: which GPUs there are (Driver), and how a program computes on one of them
// with kernels of its own (Device). It needs the driver alone, whose library is opened when a GPU is asked for. Guard
// keeps libraries of CUDA from taking the Go runtime's signal handlers.
package cuda

/*
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "driver.h"
*/
import "C"

import (
	"fmt"
	"unsafe"

	"bitextmine/internal/badinput"
)

// DriverName is the driver's library.
const DriverName = "libcuda.so.1"

// Library is the file that is opened; tests put one of their own in its place.
var Library = DriverName

// GPU is a GPU as the driver describes it.
type GPU struct {
	Number       int
	Name         string
	Memory       int64 // bytes
	Major, Minor int   // compute capability
}

func (g GPU) String() string {
	return fmt.Sprintf("%s, %.0f GiB, compute capability %d.%d", g.Name, float64(g.Memory)/(1<<30), g.Major, g.Minor)
}

// Driver is the NVIDIA driver of this machine.
type Driver struct {
	CUDA int // the newest CUDA that it supports: 1000 * major + 10 * minor
	GPUs []GPU
}

// Version is CUDA as a person writes it.
func (d Driver) Version() string { return fmt.Sprintf("%d.%d", d.CUDA/1000, d.CUDA%1000/10) }

// OpenDriver asks the driver for its GPUs. Without a driver, or without a GPU, it is a badinput error.
func OpenDriver() (d Driver, err error) {
	library := C.CString(Library)
	defer C.free(unsafe.Pointer(library))
	var version, n C.int
	var code C.int
	Guard(func() { code = C.driver_open(library, &version, &n) })
	d.CUDA = int(version)
	if code != 0 || n == 0 {
		return d, noDriver(int(code))
	}
	for i := range int(n) {
		var out C.driver_gpu
		if code := C.driver_describe(C.int(i), &out); code != 0 {
			return d, badinput.Errorf(
				"the NVIDIA driver cannot describe GPU %d (CUDA error %d): look at nvidia-smi and the kernel's log",
				i, int(code))
		}
		d.GPUs = append(d.GPUs, GPU{i, C.GoString(&out.name[0]), int64(out.memory), int(out.major), int(out.minor)})
	}
	return d, nil
}

// noDriver explains the codes of cuInit: CUresult in cuda.h.
func noDriver(code int) error {
	const hint = "; look at nvidia-smi, or use the CPU (--device cpu, --search exact)"
	switch code {
	case int(C.driver_absent):
		return badinput.Errorf(
			"the NVIDIA driver is not installed here: %s was not found (in a container: start it with the NVIDIA runtime)%s",
			Library, hint)
	case int(C.driver_incomplete):
		return badinput.Errorf("%s is no NVIDIA driver, or one of before 2013: install a newer one%s", Library,
			hint)
	case 0, 100:
		return badinput.Errorf(
			"the NVIDIA driver sees no GPU: give the process one (CUDA_VISIBLE_DEVICES, the container's or the job's GPUs)%s",
			hint)
	case 803, 804:
		return badinput.Errorf(
			"the NVIDIA driver's library and its kernel module are of different versions (CUDA error %d): restart the machine after the driver's update%s",
			code, hint)
	}
	return badinput.Errorf("the NVIDIA driver does not start (CUDA error %d)%s", code, hint)
}
