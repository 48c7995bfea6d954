package weights

import (
	"hash/fnv"
	"math"
)

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// glorot is the bound of Xavier's uniform distribution for a matrix [in, out].
func glorot(shape []int) float64 {
	in, out := shape[0], shape[len(shape)-1]
	return math.Sqrt(6 / float64(in+out))
}

func hash(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()
}
