// Package heaps sorts what is spread evenly by its first bits.
package heaps

import "math"

// Sort fills to, in order, with what of gives for each of its places. group is the first 16 bits of what they are
// ordered by, and sort sorts those of one group. Groups are small heaps, and sorting those takes a fraction of the time
// of sorting all.
func Sort[T any](to []T, of func(i int) T, group func(T) uint16, sort func(heap []T)) {
	var ends [1 << 16]int
	for i := range to {
		ends[group(of(i))]++
	}
	sum := 0
	for i, n := range ends {
		ends[i] = sum
		sum += n
	}
	for i := range to {
		one := of(i)
		at := &ends[group(one)]
		to[*at] = one
		*at++
	}
	begin := 0
	for _, end := range ends {
		sort(to[begin:end])
		begin = end
	}
}

// Bits are those of a number, changed so that they are in the order of the numbers.
func Bits(x float32) uint32 {
	bits := math.Float32bits(x)
	if bits>>31 == 1 {
		return ^bits
	}
	return bits | 1<<31
}
