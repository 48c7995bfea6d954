package bitext

import (
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow/go/v15/arrow/memory"
)

// allocator allocates memory for the columns of a table until left is used up. Then it panics, as arrow requires of
// allocators. A small file may describe a table of any size.
type allocator struct {
	memory.GoAllocator
	left atomic.Int64 // bytes
}

func newAllocator(left int64) *allocator {
	a := new(allocator)
	a.left.Store(left)
	return a
}

func (a *allocator) take(n int) {
	if n > 0 && a.left.Add(-int64(n)) < 0 {
		panic(fmt.Errorf("its columns are larger than a file of this size can hold"))
	}
}

func (a *allocator) Allocate(size int) []byte {
	a.take(size)
	return a.GoAllocator.Allocate(size)
}

func (a *allocator) Reallocate(size int, b []byte) []byte {
	if cap(b) < size {
		a.take(size)
		a.left.Add(int64(cap(b)))
	}
	return a.GoAllocator.Reallocate(size, b)
}

func (a *allocator) Free(b []byte) { a.left.Add(int64(cap(b))) }
