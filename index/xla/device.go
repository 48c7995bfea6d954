package xla

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/go-xla/pjrt"

	"bitextmine/internal/badinput"
)

// device is one of a plugin's devices.
type device struct {
	client *pjrt.Client
	number int
	name   string
	fault  func(device int, operation string) error // test hook called before each operation
}

// errMemory is the error of an operation for which a device has too little memory.
var errMemory = errors.New("out of memory")

// devices returns all devices of a client, or the first `limit`.
func devices(client *pjrt.Client, limit int) []*device {
	var all []*device
	for i, d := range client.AddressableDevices() {
		if limit > 0 && i == limit {
			break
		}
		name := fmt.Sprintf("device %d of %s", i, client.Platform())
		if description, err := d.GetDescription(); err == nil {
			name += " (" + description.DebugString() + ")"
		}
		all = append(all, &device{client: client, number: i, name: name})
	}
	return all
}

// do calls an operation and names the device in its error.
func (d *device) do(operation string, call func() error) error {
	var err error
	if d.fault != nil {
		err = d.fault(d.number, operation)
	}
	if err == nil {
		err = call()
	}
	if err == nil {
		return nil
	}
	reason, _, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	if strings.Contains(reason, "RESOURCE_EXHAUSTED") || strings.Contains(reason, "code=8)") ||
		strings.Contains(strings.ToLower(reason), "out of memory") {
		return fmt.Errorf("%s, %s: %s: %w", d.name, operation, reason, errMemory)
	}
	return fmt.Errorf(
		"%s failed (%s): %s; check it (nvidia-smi, the kernel's log) and start again, or search with exact",
		d.name, operation, reason)
}

// upload copies values to the device.
func (d *device) upload(values []byte, of dtypes.DType, dims ...int) (buffer *pjrt.Buffer, err error) {
	err = d.do("copying to it", func() error {
		buffer, err = d.client.BufferFromHost().FromRawData(values, of, dims).ToDeviceNum(d.number).Done()
		return err
	})
	return buffer, err
}

// download copies a buffer to the host.
func (d *device) download(buffer *pjrt.Buffer, values []byte) error {
	return d.do("copying from it", func() error { return buffer.ToHost(values) })
}

// run executes a program. The arguments from the first donated one on are no longer valid after it.
func (d *device) run(program *pjrt.LoadedExecutable, donated int,
	args ...*pjrt.Buffer) (results []*pjrt.Buffer, err error) {
	indices := make([]int, 0, len(args)-donated)
	for i := donated; i < len(args); i++ {
		indices = append(indices, i)
	}
	err = d.do("computing", func() error {
		results, err = program.Execute(args...).Donate(indices...).OnDeviceByNum(d.number).Done()
		return err
	})
	return results, err
}

// free releases buffers. It skips nil and released ones.
func free(buffers ...*pjrt.Buffer) {
	for _, b := range buffers {
		if b != nil {
			_ = b.Destroy() // fails on a lost device, with nothing to release
		}
	}
}

// bytesOf are the bytes of values.
func bytesOf[T uint16 | int32 | float32](values []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(values[0])))
}

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
