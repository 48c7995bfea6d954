package gpu

import (
	"errors"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/index/indextest"
	"bitextmine/internal/badinput"
	"bitextmine/internal/cuda"
)

// TestExplain: the first two texts are ONNX Runtime's own, seen with a driver that is too old (1.28.0) and with an
// arena that is too small (1.28.2); the others are put together as these are, from the names that its library has.
func TestExplain(t *testing.T) {
	for _, c := range []struct {
		text, says string
		permanent  bool
		memory     bool
	}{
		{`Failed to parse provider option "device_id": CUDA failure 36: API call is not supported in the installed CUDA driver ; GPU=-1 ; hostname=vm ; expr=cudaGetDeviceCount(&num_devices);`,
			"the NVIDIA driver is too old for the CUDA libraries", true, false},
		{"Non-zero status code returned while running MatMul node. Name:'' Status Message: bfc_arena.cc:359 void*\nAvailable memory of 620544 is smaller than requested bytes of 3840000",
			"GPU 1 has too little memory left", false, true},
		{"CUDA failure 2: out of memory ; GPU=1 ; expr=cudaMalloc(&p, size);", "GPU 1 has too little memory left", false, true},
		{"CUBLAS failure 3: CUBLAS_STATUS_ALLOC_FAILED ; GPU=1", "GPU 1 has too little memory left", false, true},
		{"CUDA failure 35: CUDA driver version is insufficient for CUDA runtime version ; GPU=-1", "the NVIDIA driver is too old", true, false},
		{"CUDA failure 209: no kernel image is available for execution on the device ; GPU=1", "GPU 1 (NVIDIA K80) is of a kind that these CUDA libraries have no code for", true, false},
		{"CUDA failure 101: invalid device ordinal ; GPU=7", "CUDA does not find GPU 1", true, false},
		{"CUDA failure 719: unspecified launch failure ; GPU=1", "GPU 1 failed or is gone", false, false},
		{"CUDNN failure 4: CUDNN_STATUS_INTERNAL_ERROR ; GPU=1", "GPU 1 failed or is gone", false, false},
		{"Failed to load library libonnxruntime_providers_cuda.so with error: undefined symbol: x", "ONNX Runtime's GPU provider does not load", true, false},
		{"the graph has no input", "the graph has no input", false, false},
	} {
		err := Explain(cuda.GPU{Number: 1, Name: "NVIDIA K80"}, errors.New(c.text))
		if !strings.Contains(err.Error(), c.says) || badinput.Is(err) != c.permanent || OutOfMemory(err) != c.memory || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q is %v (permanent: %v, of memory: %v)", c.text, err, badinput.Is(err), OutOfMemory(err))
		}
	}
	if err := Explain(cuda.GPU{}, nil); err != nil {
		t.Error(err)
	}
}

// TestPrepare: what is wrong is said in the order in which it is to be put right.
func TestPrepare(t *testing.T) {
	device, err := Parse("cuda:1")
	if err != nil {
		t.Fatal(err)
	}
	runtime := provided(t, "libcublas.so.66", "libcudart.so.66")
	indextest.Driver(t, "INIT=100", "VERSION=66000")
	_, err = Prepare(device, runtime)
	encodetest.Refused(t, err, "the NVIDIA driver sees no GPU")
	indextest.Driver(t, "GPUS=2", "VERSION=65020")
	_, err = Prepare(device, runtime)
	encodetest.Refused(t, err, "the NVIDIA driver supports CUDA 65.2, but the libraries are of CUDA 66")
	indextest.Driver(t, "GPUS=2", "VERSION=66000")
	gpus, err := Prepare(device, runtime)
	if err != nil || len(gpus) != 1 || gpus[0].Number != 1 {
		t.Errorf("prepared %v, %v", gpus, err)
	}
}
