package heaps

import (
	"math"
	"testing"
)

// TestBits: bits are in the order of the numbers.
func TestBits(t *testing.T) {
	numbers := []float32{float32(math.Inf(-1)), -7, -0.5, 0, 0.25, 3, float32(math.Inf(1))}
	for i := range numbers[1:] {
		if Bits(numbers[i]) >= Bits(numbers[i+1]) {
			t.Errorf("%v is not before %v", numbers[i], numbers[i+1])
		}
	}
}
