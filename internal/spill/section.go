package spill

import (
	"io"
	"unsafe"
)

// WriteSection writes values to a file of sections: as they are in memory, little-endian, padded to Align bytes.
func WriteSection(w io.Writer, section []byte) error {
	if _, err := w.Write(section); err != nil {
		return err
	}
	return Pad(w, len(section))
}

// Pad writes the padding of a section of so many bytes.
func Pad(w io.Writer, size int) error {
	_, err := w.Write(make([]byte, -size&(Align-1)))
	return err
}

// Sections reads the sections of a file that is mapped or in memory.
type Sections struct {
	Rest  []byte // the next section and those after it
	Short bool   // there was less than was to be read
}

// TakeOne takes a section of one value; it is zero if there is none.
func TakeOne[T any](from *Sections) (one T) {
	if all := Take[T](from, 1); len(all) == 1 {
		one = all[0]
	}
	return one
}

// Take takes a section of n values; they share the file's memory. T has no pointers.
func Take[T any](from *Sections, n uint64) []T {
	var one T
	size := n * uint64(unsafe.Sizeof(one))
	if n > uint64(len(from.Rest)) || size > uint64(len(from.Rest)) {
		from.Short = true
		return nil
	}
	section := from.Rest
	from.Rest = from.Rest[min(uint64(len(from.Rest)), (size+Align-1)&^(Align-1)):]
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&section[0])), n)
}
