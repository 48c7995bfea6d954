package xla

import (
	"fmt"

	"github.com/gomlx/compute/dtypes"

	"bitextmine/internal/badinput"
)

const probed = 64 // a multiple of the size of matrix units

// probe returns an error unless the device computes products of float16 values as the bound assumes: it keeps
// subnormal values, and its sums have more bits than float16.
func (d *device) probe() error {
	text := fmt.Sprintf(`module @probe {
func.func public @main(%%x: %[1]s, %%y: %[1]s) -> %[2]s {
%%z = stablehlo.dot_general %%x, %%y, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (%[1]s, %[1]s) -> %[2]s
return %%z : %[2]s
}}`, tensor("f16", probed, probed), tensor("f32", probed, probed))
	program, err := d.client.Compile().WithStableHLO([]byte(text)).Done()
	if err != nil {
		return badinput.Errorf(
			"%s cannot compile a product of float16 values (%w); take a newer plugin, or search with exact",
			d.name, err)
	}
	defer func() { _ = program.Destroy() }() // nothing depends on it
	// Every sum is 1 and 62 times 2^-11, which float16 sums would lose, and a subnormal number.
	x, y := make([]uint16, probed*probed), make([]uint16, probed*probed)
	for i := range x {
		y[i] = 0x3c00 // 1
		switch i % probed {
		case 0:
			x[i] = 0x3c00
		case 1:
			x[i] = 0x0200 // 2^-15, subnormal
		default:
			x[i] = 0x1000 // 2^-11
		}
	}
	left, err := d.upload(bytesOf(x), dtypes.Float16, probed, probed)
	if err != nil {
		return err
	}
	defer free(left)
	right, err := d.upload(bytesOf(y), dtypes.Float16, probed, probed)
	if err != nil {
		return err
	}
	defer free(right)
	out, err := d.run(program, 2, left, right)
	if err != nil {
		return err
	}
	defer free(out...)
	z := make([]float32, probed*probed)
	if err := d.download(out[0], bytesOf(z)); err != nil {
		return err
	}
	const want = 1 + (probed-2)*0x1p-11 + 0x1p-15
	for _, sum := range z {
		if off := float64(sum) - want; !(off < 4*probed*0x1p-23 && off > -4*probed*0x1p-23) {
			return badinput.Errorf(
				"%s computes a product of float16 values as %v instead of %v, too far off to search with; use exact",
				d.name, sum, float32(want))
		}
	}
	return nil
}
