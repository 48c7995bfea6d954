package session

import (
	"runtime"
	"sync/atomic"

	"golang.org/x/sys/cpu"
)

// processor is the name that Processor returns; nil: nothing was loaded.
var processor atomic.Pointer[string]

// Processor names what the last bits of this process's results depend on: the version of ONNX Runtime and the kind of
// CPU. It is empty until ONNX Runtime, or the program's own layers, were loaded to compute on the CPU. Static encoders
// give the same bits on every CPU, and the kinds of GPUs are in the keys of what they compute.
func Processor() string {
	if name := processor.Load(); name != nil {
		return *name
	}
	return ""
}

// LoadedOnCPU says that something was loaded whose results Processor is about. ONNX Runtime must be acquired.
func LoadedOnCPU() {
	name := "ONNX Runtime " + RuntimeVersion() + " on " + kindOfCPU()
	processor.Store(&name)
}

// kindOfCPU names the instructions by which ONNX Runtime and the program choose how they compute.
func kindOfCPU() string {
	if runtime.GOARCH != "amd64" {
		return runtime.GOARCH
	}
	kind := "amd64 without AVX"
	switch {
	case cpu.X86.HasAVX512F:
		kind = "amd64 with AVX-512"
	case cpu.X86.HasAVX2 && cpu.X86.HasFMA:
		kind = "amd64 with AVX2"
	case cpu.X86.HasAVX:
		kind = "amd64 with AVX alone"
	}
	if cpu.X86.HasAVX512VNNI || cpu.X86.HasAVXVNNI {
		kind += " and VNNI"
	}
	return kind
}
