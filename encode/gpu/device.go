// Package gpu brings ONNX Runtime onto NVIDIA GPUs: which GPUs a setting names (Device), what the driver knows of them
// (Driver), where the libraries of ONNX Runtime's CUDA and TensorRT providers are (Find) and how they are loaded
// (Preload). It keeps these libraries from taking the Go runtime's signal handlers (Guard), and turns their errors into
// sentences (Explain).
//
// Nothing here is linked against CUDA: libraries are opened when a GPU is asked for.
package gpu

import (
	"strconv"
	"strings"

	"bitextmine/internal/badinput"
)

// The kinds of a Device; an empty one is the CPU.
const (
	CUDA     = "cuda"
	TensorRT = "tensorrt"
)

// Device computes vectors: the CPU, or GPUs of one machine.
type Device struct {
	Kind    string
	GPUs    uint64 // bit n: GPU n; 0 with All
	All     bool   // every GPU of the machine
	Float16 bool   // products are computed in float16 with float32 sums
}

// Parse reads a device: cpu, or cuda or tensorrt, with :all or a list of GPUs such as :0,1 (without either: GPU 0), and
// with :float16 after that. Empty is cpu.
func Parse(text string) (Device, error) {
	words := strings.Split(text, ":")
	d := Device{Kind: words[0]}
	switch {
	case text == "" || text == "cpu":
		return Device{}, nil
	case d.Kind != CUDA && d.Kind != TensorRT:
		return d, unknown(text)
	}
	words = words[1:]
	if n := len(words); n > 0 && words[n-1] == "float16" {
		d.Float16, words = true, words[:n-1]
	}
	switch {
	case len(words) == 0:
		d.GPUs = 1
	case len(words) > 1:
		return d, unknown(text)
	case words[0] == "all":
		d.All = true
	default:
		for word := range strings.SplitSeq(words[0], ",") {
			n, err := strconv.Atoi(word)
			if err != nil || n < 0 || n > 63 || d.GPUs&(1<<n) != 0 {
				return d, unknown(text)
			}
			d.GPUs |= 1 << n
		}
	}
	return d, nil
}

func unknown(text string) error {
	return badinput.Errorf(
		"device = %q is not known; choose cpu, cuda, cuda:0,1 or cuda:all, the same with tensorrt, and :float16 after it for faster products",
		text)
}

// OnCPU says whether no GPU was asked for.
func (d Device) OnCPU() bool { return d.Kind == "" }

// Arithmetic names what changes the last bits of vectors: the provider and the precision, not which GPUs. It is empty
// for the CPU.
func (d Device) Arithmetic() string {
	if d.Float16 {
		return d.Kind + " float16"
	}
	return d.Kind
}
