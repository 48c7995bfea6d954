package gpu

import (
	"fmt"
	"strings"

	"bitextmine/internal/badinput"
)

// Prepare loads what a device's providers need and returns its GPUs. Whatever is missing, too old or of another kind is
// a badinput error.
func Prepare(device Device, runtime string) ([]GPU, error) {
	driver, err := OpenDriver()
	if err != nil {
		return nil, err
	}
	chosen, err := driver.Choose(device)
	if err != nil {
		return nil, err
	}
	needed, err := Preload(runtime, device.Kind)
	if err != nil {
		return nil, err
	}
	if err := Missing(runtime, needed); err != nil {
		return nil, err
	}
	return chosen, driver.Supports(needed)
}

// OutOfMemory says whether an error of ONNX Runtime is about a GPU's memory.
func OutOfMemory(err error) bool {
	return err != nil && contains(err.Error(), "out of memory", "Failed to allocate memory",
		"is smaller than requested bytes", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED",
		"cudaErrorMemoryAllocation")
}

// Explain makes a sentence of an error of ONNX Runtime on a GPU; nil stays nil. What may be otherwise on another
// machine, or at another time, is worth a retry; the rest is badinput.
func Explain(on GPU, err error) error {
	switch {
	case err == nil || badinput.Is(err):
		return err
	case OutOfMemory(err):
		return fmt.Errorf(
			"GPU %d has too little memory left: end what else runs there and run the same command again: %w",
			on.Number, oneLine(err))
	case contains(err.Error(), "driver version is insufficient", "CUDA failure 35:", "CUDA failure 36:"):
		return badinput.Errorf(
			"the NVIDIA driver is too old for the CUDA libraries: install a newer driver, or libraries of an older CUDA with mine gpu setup --cuda: %w",
			oneLine(err))
	case contains(err.Error(), "no kernel image is available", "CUDA failure 209:", "CUDNN_STATUS_ARCH_MISMATCH",
		"CUBLAS_STATUS_ARCH_MISMATCH"):
		return badinput.Errorf(
			"GPU %d (%s) is of a kind that these CUDA libraries have no code for: take other libraries with mine gpu setup --cuda, or --device cpu: %w",
			on.Number, on.Name, oneLine(err))
	case contains(err.Error(), "no CUDA-capable device", "CUDA failure 100:", "invalid device ordinal",
		"CUDA failure 101:"):
		return badinput.Errorf("CUDA does not find GPU %d: look at nvidia-smi and CUDA_VISIBLE_DEVICES: %w", on.Number,
			oneLine(err))
	case contains(err.Error(), "CUDA failure", "CUDA error", "CUBLAS failure", "CUBLAS_STATUS", "CUDNN failure",
		"CUDNN_STATUS", "CUDNN_BACKEND"):
		return fmt.Errorf(
			"GPU %d failed or is gone: look at nvidia-smi and the kernel's log, and run the same command again; it goes on from here: %w",
			on.Number, oneLine(err))
	case contains(err.Error(), "Failed to load library", "libonnxruntime_providers"):
		return badinput.Errorf(
			"ONNX Runtime's GPU provider does not load: run mine gpu setup again, and look at mine doctor: %w",
			oneLine(err))
	}
	return err
}

func contains(text string, any ...string) bool {
	for _, part := range any {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// line is an error on one line.
type line struct{ err error }

func (l line) Error() string { return strings.Join(strings.Fields(l.err.Error()), " ") }
func (l line) Unwrap() error { return l.err }

func oneLine(err error) error { return line{err} }
