package bitext

import (
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow/memory"
)

// Allocator allocates memory for the columns of a table until left is used up. Then it panics, as arrow requires of
// Allocators. A small file may describe a table of any size.
type Allocator struct {
	memory.GoAllocator
	left atomic.Int64 // bytes
}

// NewAllocator returns an allocator of at most left bytes.
func NewAllocator(left int64) *Allocator {
	a := new(Allocator)
	a.left.Store(left)
	return a
}

func (a *Allocator) take(n int) {
	if n > 0 && a.left.Add(-int64(n)) < 0 {
		panic(fmt.Errorf("its columns are larger than a file of this size can hold"))
	}
}

// Allocate is part of arrow's memory.Allocator.
func (a *Allocator) Allocate(size int) []byte {
	a.take(size)
	return a.GoAllocator.Allocate(size)
}

// Reallocate is part of arrow's memory.Allocator.
func (a *Allocator) Reallocate(size int, b []byte) []byte {
	if cap(b) < size {
		a.take(size)
		a.left.Add(int64(cap(b)))
	}
	return a.GoAllocator.Reallocate(size, b)
}

// Free is part of arrow's memory.Allocator.
func (a *Allocator) Free(b []byte) { a.left.Add(int64(cap(b))) }
