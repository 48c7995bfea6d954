package cuda

/*
#include <stdlib.h>
#include "driver.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"math"
	"unsafe"
)

// Device is a GPU that this process computes on. What it is given to do is done in order.
type Device struct {
	GPU
	context unsafe.Pointer
}

// Memory is the address of memory of a GPU.
type Memory uint64

// Kernel is a compiled function of a GPU.
type Kernel struct {
	on               *Device
	module, function unsafe.Pointer
	threads, shared  int
}

// Source is a kernel as PTX, which the driver compiles for its GPU.
type Source struct {
	Name       string `json:"name"`
	Entry      string `json:"entry"`      // the function's name in the PTX
	Capability int    `json:"capability"` // 10 times the compute capability that it needs at least
	Threads    int    `json:"threads"`    // threads of a block
	Shared     int    `json:"shared"`     // bytes of shared memory of a block
	PTX        string `json:"ptx"`
}

// Error is the driver's error of an operation.
type Error struct {
	GPU       GPU
	Operation string
	Code      int // CUresult of cuda.h
	Name      string
}

func (e *Error) Error() string {
	return fmt.Sprintf("GPU %d (%s), %s: %s (CUDA error %d)", e.GPU.Number, e.GPU.Name, e.Operation, e.Name, e.Code)
}

// NoMemory reports whether a GPU had too little memory for an operation.
func NoMemory(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == 2
}

// Attach starts to compute on a GPU. Close the device after the last use.
func Attach(g GPU) (*Device, error) {
	d := &Device{GPU: g}
	var code C.int
	Guard(func() { code = C.driver_attach(C.int(g.Number), &d.context) })
	if err := d.failed("starting to use it", code); err != nil {
		return nil, err
	}
	return d, nil
}

// Close ends the use. All memory and kernels of the device must have been released.
func (d *Device) Close() error { return d.failed("leaving it", C.driver_detach(C.int(d.Number))) }

func (d *Device) failed(operation string, code C.int) error {
	if code == 0 {
		return nil
	}
	return &Error{d.GPU, operation, int(code), C.GoString(C.driver_error(code))}
}

// Free returns the bytes of memory that nobody uses.
func (d *Device) Free() (int64, error) {
	var bytes C.size_t
	err := d.failed("asking for its memory", C.driver_free_memory(d.context, &bytes))
	return int64(bytes), err
}

// Allocate takes memory, which holds anything.
func (d *Device) Allocate(bytes int64) (Memory, error) {
	var m C.uint64_t
	err := d.failed(fmt.Sprintf("taking %d MiB", bytes>>20), C.driver_allocate(d.context, C.size_t(bytes), &m))
	return Memory(m), err
}

// Release gives memory back. Zero is no memory.
func (d *Device) Release(m Memory) error {
	if m == 0 {
		return nil
	}
	return d.failed("giving memory back", C.driver_release(d.context, C.uint64_t(m)))
}

// Fill writes a word of four bytes n times.
func (d *Device) Fill(m Memory, word uint32, n int) error {
	return d.failed("filling memory", C.driver_fill(d.context, C.uint64_t(m), C.uint32_t(word), C.size_t(n)))
}

// Upload copies values of the host to the device.
func Upload[T byte | uint16 | int32 | float32](d *Device, to Memory, from []T) error {
	if len(from) == 0 {
		return nil
	}
	first := unsafe.Pointer(unsafe.SliceData(from))
	return d.failed("copying to it", C.driver_upload(d.context, C.uint64_t(to), first, sizeOf(from)))
}

// Download copies values of the device to the host, after all that the device was given to do before.
func Download[T uint16 | int32 | float32](d *Device, to []T, from Memory) error {
	if len(to) == 0 {
		return nil
	}
	first := unsafe.Pointer(unsafe.SliceData(to))
	return d.failed("copying from it", C.driver_download(d.context, first, C.uint64_t(from), sizeOf(to)))
}

func sizeOf[T any](values []T) C.size_t {
	var one T
	return C.size_t(len(values)) * C.size_t(unsafe.Sizeof(one))
}

// Staging takes n values of the host's memory that are not paged out, from which copies are faster, and returns how to
// give them back.
func (d *Device) Staging(n int) ([]uint16, func() error, error) { return Pinned[uint16](d, n) }

// Pinned is Staging for values of any type.
func Pinned[T uint16 | int32 | float32](d *Device, n int) ([]T, func() error, error) {
	var m unsafe.Pointer
	var one T
	code := C.driver_allocate_host(d.context, C.size_t(n)*C.size_t(unsafe.Sizeof(one)), &m)
	if err := d.failed("taking memory of the host", code); err != nil {
		return nil, nil, err
	}
	release := func() error {
		return d.failed("giving back memory of the host", C.driver_release_host(d.context, m))
	}
	return unsafe.Slice((*T)(m), n), release, nil
}

// Compile compiles a kernel. The driver keeps what it compiled in a cache of the user.
func (d *Device) Compile(s Source) (*Kernel, error) {
	ptx, entry := C.CString(s.PTX), C.CString(s.Entry)
	defer C.free(unsafe.Pointer(ptx))
	defer C.free(unsafe.Pointer(entry))
	k := &Kernel{on: d, threads: s.Threads, shared: s.Shared}
	code := C.driver_compile(d.context, ptx, entry, C.int(s.Shared), &k.module, &k.function)
	if err := d.failed("compiling "+s.Name, code); err != nil {
		return nil, err
	}
	return k, nil
}

// Release gives a kernel back.
func (k *Kernel) Release() error {
	return k.on.failed("giving a kernel back", C.driver_unload(k.on.context, k.module))
}

// Launch starts a kernel in so many blocks. Parameters are Memory, int32 or float32, in the kernel's order. The
// next operation that waits returns an error of the kernel itself.
func (k *Kernel) Launch(blocks int, parameters ...any) error {
	var slots [C.driver_parameters]C.uint64_t
	for i, p := range parameters {
		switch p := p.(type) {
		case Memory:
			slots[i] = C.uint64_t(p)
		case int32:
			slots[i] = C.uint64_t(uint32(p))
		case float32:
			slots[i] = C.uint64_t(math.Float32bits(p))
		default:
			return fmt.Errorf("a kernel has no parameters of type %T", p)
		}
	}
	return k.on.failed("starting a kernel", C.driver_launch(k.on.context, k.function, C.uint(blocks), C.uint(k.threads),
		C.uint(k.shared), &slots[0], C.int(len(parameters))))
}

// Wait returns when all that the device was given to do is done.
func (d *Device) Wait() error { return d.failed("computing", C.driver_wait(d.context)) }
