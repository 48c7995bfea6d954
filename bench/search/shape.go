package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"bitextmine/encode/embedding"
	"bitextmine/index"
	"bitextmine/index/indextest"
)

// shape is a cell to search: n source rows and q target rows.
type shape struct {
	n, q, dim, k int
	kind         string
	float16      bool
}

// fromFiles reads both sides from embedding files, as float32 or, if float16 is set, as float16. rows is the number of
// rows of each, 0 for all.
func fromFiles(srcPath, tgtPath string, k int, float16 bool, rows int) (s shape, src, tgt index.Side, err error) {
	if src, err = fromFile(srcPath, float16, rows); err == nil {
		tgt, err = fromFile(tgtPath, float16, rows)
	}
	return shape{n: src.Vectors.N, q: tgt.Vectors.N, dim: src.Vectors.Dim, k: k, kind: "embeddings"}, src, tgt, err
}

func fromFile(path string, float16 bool, n int) (index.Side, error) {
	f, err := embedding.OpenArray(path)
	if err != nil {
		return index.Side{}, err
	}
	defer func() { _ = f.Close() }() // it is only read
	if n == 0 {
		n = f.Matrix.N
	}
	n = min(n, f.Matrix.N)
	if float16 && f.Matrix.F16 != nil {
		half := slices.Clone(f.Matrix.F16[:n*f.Matrix.Dim])
		return index.Side{Vectors: embedding.Matrix{N: n, Dim: f.Matrix.Dim, F16: half}}, nil
	}
	rows := make([]float32, n*f.Matrix.Dim)
	f.Matrix.Float32(rows, 0, n)
	m := embedding.FromFloat32(rows, f.Matrix.Dim)
	if float16 {
		m = embedding.Narrow(m)
	}
	return index.Side{Vectors: m}, nil
}

func parseShape(text string) (shape, error) {
	var s shape
	if _, err := fmt.Sscanf(text, "%dx%dx%dx%d", &s.n, &s.q, &s.dim, &s.k); err != nil || s.n < 1 || s.q < 1 || s.dim < 1 || s.k < 1 {
		return s, fmt.Errorf("shape %q must be NxQxDIMxK, such as 200000x20000x256x4", text)
	}
	return s, nil
}

func (s shape) String() string { return fmt.Sprintf("%d x %d, d = %d, k = %d", s.n, s.q, s.dim, s.k) }

func (s shape) sides() (src, tgt index.Side, err error) {
	make, ok := map[string]func(rng *rand.Rand, n, dim int) []float32{
		"random": random, "skewed": skewed, "duplicates": duplicates, "near": near,
	}[s.kind]
	if !ok {
		return src, tgt, fmt.Errorf("data %q must be random, skewed, duplicates or near", s.kind)
	}
	return s.side(make(rand.New(rand.NewPCG(1, 2)), s.n, s.dim)), s.side(make(rand.New(rand.NewPCG(1, 3)), s.q, s.dim)), nil
}

func (s shape) side(rows []float32) index.Side {
	indextest.Normalise(rows, s.dim)
	m := embedding.FromFloat32(rows, s.dim)
	if s.float16 {
		m = embedding.Narrow(m)
	}
	return index.Side{Vectors: m}
}

func random(rng *rand.Rand, n, dim int) []float32 {
	rows := make([]float32, n*dim)
	for i := range rows {
		// The sum of two uniform numbers is close enough to a normal number for a direction, in a fifth of the time.
		rows[i] = rng.Float32() + rng.Float32() - 1
	}
	return rows
}

// skewed draws clusters with Zipf's sizes around centres that both sides share. The rows of each are sorted by their
// distance from its centre.
func skewed(rng *rand.Rand, n, dim int) []float32 {
	const clusters = 1000
	centres := random(rand.New(rand.NewPCG(9, 9)), clusters, dim)
	zipf := rand.NewZipf(rng, 1.2, 1, clusters-1)
	of := make([]int, n)
	for i := range of {
		of[i] = int(zipf.Uint64())
	}
	slices.Sort(of)
	rows := random(rng, n, dim)
	start := 0
	for i := range n {
		if i > 0 && of[i] != of[i-1] {
			start = i
		}
		noise := 0.1 + 0.9*float32(i-start)/float32(n)
		row := rows[i*dim : (i+1)*dim]
		for j := range row {
			row[j] = centres[of[i]*dim+j] + noise*row[j]
		}
	}
	return rows
}

// duplicates replaces a third of the rows by copies of earlier rows.
func duplicates(rng *rand.Rand, n, dim int) []float32 {
	rows := random(rng, n, dim)
	for i := 1; i < n; i++ {
		if rng.IntN(3) == 0 {
			from := rng.IntN(i) * dim
			copy(rows[i*dim:(i+1)*dim], rows[from:from+dim])
		}
	}
	return rows
}

// near draws groups of a hundred rows whose cosines differ in the fourth digit. Some of their centres are common to
// both sides.
func near(rng *rand.Rand, n, dim int) []float32 {
	groups := max(n/100, 1)
	rows := random(rng, n, dim)
	centre := make([]float32, dim)
	for i := range n {
		seed := rand.New(rand.NewPCG(7, uint64(i%groups)))
		row := rows[i*dim : (i+1)*dim]
		for j := range centre {
			row[j] = seed.Float32() + seed.Float32() - 1 + 1e-2*row[j]
		}
	}
	return rows
}
