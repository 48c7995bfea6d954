package device

import (
	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/internal/badinput"
)

// probed is the length of the products in RequireBFloat16: a multiple of the size of matrix units.
const probed = 16

// RequireBFloat16 returns an error unless the named device really rounds the operands of a product to bfloat16. It
// computes a product to find out, because backends claim to have the type but compute in another: ONNX Runtime has no
// such product for the CPU, so it removes the conversions and gives float32's result.
func RequireBFloat16(name string, backend compute.Backend) error {
	rounds, err := roundsToBFloat16(backend)
	if err != nil {
		return badinput.Errorf("the device %s cannot compute in bfloat16: take precision float32 or another device: %w", name, err)
	}
	if !rounds {
		return badinput.Errorf("the device %s was asked for products in bfloat16 and computed them in float32: take precision float32 or another device", name)
	}
	return nil
}

// roundsToBFloat16 sums (1 + 2⁻¹⁰) - 1 probed/2 times. The result is 2⁻⁷ however the sum is rounded, but 0 if the terms
// are rounded to bfloat16's 8 bits too.
func roundsToBFloat16(backend compute.Backend) (bool, error) {
	x, y := make([]float32, probed*probed), make([]float32, probed*probed)
	for i := range x {
		x[i] = 1 + float32(i%2)/1024 // along a row
		y[i] = float32(2*(i/probed%2) - 1)
	}
	exec, err := graph.NewExec(backend, func(x, y *graph.Node) *graph.Node {
		x, y = graph.ConvertDType(x, dtypes.BFloat16), graph.ConvertDType(y, dtypes.BFloat16)
		return graph.ConvertDType(graph.Dot(x, y).Product(), dtypes.Float32)
	})
	if err != nil {
		return false, err
	}
	defer exec.Finalize()
	out, err := Call(exec, []*tensors.Tensor{tensors.FromFlatDataAndDimensions(x, probed, probed), tensors.FromFlatDataAndDimensions(y, probed, probed)})
	if err != nil {
		return false, err
	}
	return out[0][0] == 0, nil
}
