package mine

// None fills the end of a list with fewer than k entries. Its cosine is zero and has no meaning.
const None int32 = -1

// Neighbours holds, for each of n sentences, its nearest sentences on the other side.
type Neighbours struct {
	K       int
	IDs     []int32   // [n, k] row of the other side, or None
	Cosines []float32 // [n, k] descending; equal cosines in ascending order of the sentence's key
	// Read reads list i into k ids and cosines where the lists are not in memory: there are N then, and IDs and Cosines
	// are nil. It may be called concurrently.
	Read func(i int, ids []int32, cosines []float32)
	N    int
}

// NewNeighbours returns lists for n sentences, filled with None.
func NewNeighbours(n, k int) Neighbours {
	nb := Neighbours{K: k, IDs: make([]int32, n*k), Cosines: make([]float32, n*k)}
	for i := range nb.IDs {
		nb.IDs[i] = None
	}
	return nb
}

// Len returns n.
func (nb Neighbours) Len() int {
	switch {
	case nb.Read != nil:
		return nb.N
	case nb.K == 0:
		return 0
	}
	return len(nb.IDs) / nb.K
}

// Row returns sentence i's list.
func (nb Neighbours) Row(i int) ([]int32, []float32) {
	if nb.Read != nil {
		ids, cosines := make([]int32, nb.K), make([]float32, nb.K)
		nb.Read(i, ids, cosines)
		return ids, cosines
	}
	lo, hi := i*nb.K, (i+1)*nb.K
	return nb.IDs[lo:hi:hi], nb.Cosines[lo:hi:hi]
}
