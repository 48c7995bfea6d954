// Package gpu encodes on NVIDIA GPUs, which a setting names (Device, Choose). Kernels of the program's own compute
// encoders that are built as BERT is, in float16 (Transformer, Lane); README.md has their design. ONNX Runtime computes
// all others: the package finds the libraries of its CUDA and TensorRT providers (Find), loads them (Preload) and turns
// their errors into sentences (Explain).
//
// Nothing here is linked against CUDA: libraries are opened when a GPU is asked for.
package gpu

import (
	"strconv"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/internal/cuda"
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
// for the CPU. CUDA's float16 is the second: ONNX Runtime alone computed the first.
func (d Device) Arithmetic() string {
	switch {
	case d.Float16 && d.Kind == CUDA:
		return d.Kind + " float16 2"
	case d.Float16:
		return d.Kind + " float16"
	}
	return d.Kind
}

// Choose returns the GPUs that a device names. They must be of one kind, since another kind computes other last bits,
// and a vector must not depend on the GPU that its batch went to.
func Choose(d cuda.Driver, device Device) ([]cuda.GPU, error) {
	if device.All {
		device.GPUs = 1<<len(d.GPUs) - 1
	}
	var chosen []cuda.GPU
	for n := range 64 {
		if device.GPUs&(1<<n) == 0 {
			continue
		}
		if n >= len(d.GPUs) {
			return nil, badinput.Errorf(
				"device names GPU %d, but the driver shows %d (the first is 0): name others, or look at CUDA_VISIBLE_DEVICES",
				n, len(d.GPUs))
		}
		chosen = append(chosen, d.GPUs[n])
	}
	for _, g := range chosen[1:] {
		if first := chosen[0]; g.Name != first.Name || g.Major != first.Major || g.Minor != first.Minor {
			return nil, badinput.Errorf(
				"GPU %d is %s and GPU %d is %s: GPUs of two kinds give vectors that differ in the last bits; name GPUs of one kind in device",
				first.Number, strings.TrimSpace(first.Name), g.Number, strings.TrimSpace(g.Name))
		}
	}
	return chosen, nil
}
