package device

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/internal/badinput"
)

// probed is the length of the products in these tests: a multiple of the size of matrix units.
const probed = 16

// OpenBFloat16 opens a device that computes in bfloat16.
func OpenBFloat16(name, library string) (compute.Backend, error) {
	backend, err := Open(name, library)
	if err != nil {
		return nil, err
	}
	if err := requireBFloat16(name, backend); err != nil {
		backend.Finalize()
		return nil, err
	}
	return backend, nil
}

// requireBFloat16 returns an error unless the named device really rounds the operands of a product to bfloat16. It
// computes a product to find out, because backends claim to have the type but compute in another: ONNX Runtime has no
// such product for the CPU, so it removes the conversions and gives float32's result.
func requireBFloat16(name string, backend compute.Backend) error {
	rounds, err := rounds(backend, dtypes.BFloat16, 1.0/1024) // bfloat16 has 7 bits after the point
	if err != nil {
		return badinput.Errorf("the device %s cannot compute in bfloat16: take precision float32 or another device: %w",
			name, err)
	}
	if !rounds {
		return badinput.Errorf("the device %s was asked for products in bfloat16 and computed them in float32: take precision float32 or another device", name)
	}
	return nil
}

// requireFloat32 returns an error if the named device rounds the operands of a float32 product, as GPUs do that take
// TF32 for it.
func requireFloat32(name string, backend compute.Backend) error {
	rounds, err := rounds(backend, dtypes.Float32, 1.0/4096) // TF32 has 10 bits after the point, float32 23
	if err != nil {
		return badinput.Errorf("the device %s cannot compute a product: %w", name, err)
	}
	if rounds {
		return badinput.Errorf("the device %s rounds the operands of float32 products, so that exports would not give the trainer's vectors: take another device", name)
	}
	return nil
}

// rounds reports whether a product of a type rounds 1 + bit to 1. It sums (1 + bit) - 1 probed/2 times: the result is
// that often bit however the sum is rounded, but 0 if the terms are.
func rounds(backend compute.Backend, dtype dtypes.DType, bit float32) (bool, error) {
	x, y := make([]float32, probed*probed), make([]float32, probed*probed)
	for i := range x {
		x[i] = 1 + float32(i%2)*bit // along a row
		y[i] = float32(2*(i/probed%2) - 1)
	}
	exec, err := graph.NewExec(backend, func(x, y *graph.Node) *graph.Node {
		x, y = graph.ConvertDType(x, dtype), graph.ConvertDType(y, dtype)
		return graph.ConvertDType(graph.Dot(x, y).Product(), dtypes.Float32)
	})
	if err != nil {
		return false, err
	}
	defer exec.Finalize()
	out, err := Call(exec, []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, probed, probed),
		tensors.FromFlatDataAndDimensions(y, probed, probed)})
	if err != nil {
		return false, err
	}
	return out[0][0] == 0, nil
}
