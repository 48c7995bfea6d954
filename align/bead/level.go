package bead

import "math"

// fullSize is the number of sentences up to which every place is looked at.
const fullSize = 200

// level is a document at one size: vectors [n, dim] of length 1 and their mean distance from the other document.
type level struct {
	n, dim  int
	vectors []float32
	mean    []float32 // mean cosine with samples of the other document
}

func (l *level) vector(i int) []float32 { return l.vectors[i*l.dim:][:l.dim:l.dim] }

// halved is the document at half its size: sums of two neighbours, less the mean, of length 1.
func (l *level) halved() *level {
	h := &level{n: (l.n + 1) / 2, dim: l.dim}
	h.vectors = make([]float32, h.n*h.dim)
	mean := make([]float64, l.dim)
	for i := range l.n {
		into := h.vector(i / 2)
		for c, v := range l.vector(i) {
			into[c] += v
			mean[c] += float64(v)
		}
	}
	for i := range h.n {
		count := float64(min(2, l.n-2*i))
		v := h.vector(i)
		for c := range v {
			v[c] -= float32(mean[c] * count / float64(l.n))
		}
		normalise(v)
	}
	return h
}

func normalise(v []float32) {
	length := math.Sqrt(float64(dot(v, v)))
	if length < 1e-12 {
		return
	}
	for c := range v {
		v[c] /= float32(length)
	}
}

// compare computes both documents' mean cosines with samples of the other.
func compare(a, b *level, samples int) {
	a.mean = meanCosines(a.vectors, a.dim, sample(b, samples))
	b.mean = meanCosines(b.vectors, b.dim, sample(a, samples))
}

// sample is the mean of some vectors, whose product with a vector is the mean of its products with them.
func sample(l *level, samples int) []float32 {
	sum := make([]float64, l.dim)
	n := min(l.n, samples)
	for s := range n {
		for c, v := range l.vector(s * l.n / n) {
			sum[c] += float64(v)
		}
	}
	mean := make([]float32, l.dim)
	for c := range mean {
		mean[c] = float32(sum[c] / float64(n))
	}
	return mean
}

func meanCosines(vectors []float32, dim int, sample []float32) []float32 {
	means := make([]float32, len(vectors)/dim)
	for i := range means {
		means[i] = dot(vectors[i*dim:][:dim], sample)
	}
	return means
}

// score returns the score of the bead of sentence i and sentence j.
func (l *level) score(other *level, i, j int) float32 {
	return score(dot(l.vector(i), other.vector(j)), l.mean[i], other.mean[j])
}

// dot is the product of two vectors of the same length, summed in eight parts, in a fixed order.
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(a) >= 8 && len(b) >= 8 {
		s0 += a[0] * b[0]
		s1 += a[1] * b[1]
		s2 += a[2] * b[2]
		s3 += a[3] * b[3]
		s4 += a[4] * b[4]
		s5 += a[5] * b[5]
		s6 += a[6] * b[6]
		s7 += a[7] * b[7]
		a, b = a[8:], b[8:]
	}
	for i := range min(len(a), len(b)) {
		s0 += a[i] * b[i]
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}
