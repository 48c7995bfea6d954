package layers

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"bitextmine/encode/matrix"
)

// random are n numbers of a normal distribution.
func random(seed uint64, n int) []float32 {
	r := rand.New(rand.NewPCG(seed, 7))
	all := make([]float32, n)
	for i := range all {
		all[i] = float32(r.NormFloat64())
	}
	return all
}

// randomProduct is a product of random weights. A convolution takes `width` tokens.
func randomProduct(seed uint64, columns, out, width, before int) (*product, []byte) {
	p := &product{k: columns * width, columns: out, width: width, before: before, scales: random(seed, out), bias: random(seed+1, out)}
	data := make([]byte, p.k*out)
	r := rand.New(rand.NewPCG(seed, 8))
	for i := range data {
		data[i] = byte(r.IntN(255) - 127)
	}
	p.matrix = matrix.Pack(data, out)
	p.shift = matrix.Shifts(p.matrix, out)
	return p, data
}

// one has a single step, of the tensor that Run is given.
func one(s step, columns, out int) *Layers {
	b := builder{Layers: Layers{Columns: columns, Width: out}}
	s.x = b.tensor(columns)
	b.result = b.step(s, out)
	b.place()
	return &b.Layers
}

// run runs layers, and each sentence alone.
func run(t *testing.T, l *Layers, x []float32, sentences, tokens int) []float32 {
	t.Helper()
	var m Memory
	all := make([]float32, sentences*tokens*l.Width)
	l.Run(&m, x, sentences, tokens, all)
	for s := range sentences {
		alone := make([]float32, tokens*l.Width)
		l.Run(&m, x[s*tokens*l.Columns:], 1, tokens, alone)
		if !slices.Equal(alone, all[s*len(alone):][:len(alone)]) {
			t.Errorf("sentence %d has other numbers alone", s)
		}
	}
	return all
}

// isNear fails the test for a number that is farther from what is expected than float32 rounds.
func isNear(t *testing.T, what string, got float32, want float64) {
	t.Helper()
	if d := math.Abs(float64(got) - want); !(d <= 1e-4*(1+math.Abs(want))) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestProducts(t *testing.T) {
	if !matrix.Supported() {
		t.Skip("this processor has no VNNI")
	}
	for _, c := range []struct {
		name                     string
		columns, width, before   int
		sentences, tokens, after int
	}{
		{"in tiles", 128, 1, 0, 30, 11, 0},
		{"of a width that is not a tile's", 48, 1, 0, 3, 11, 1},
		{"of one token", 64, 1, 0, 1, 1, 0},
		{"a convolution", 64, 3, 1, 7, 5, 1},
		{"a convolution of what comes after", 64, 2, 0, 40, 9, 0},
		{"a convolution that is wider than a sentence", 48, 5, 4, 2, 3, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			const out = 64
			p, data := randomProduct(3, c.columns, out, c.width, c.before)
			after := plainProduct
			if c.after == 1 {
				after = reluOfProduct
			}
			x := random(5, c.sentences*c.tokens*c.columns)
			got := run(t, one(step{op: multiply, y: none, z: none, product: p, after: after}, c.columns, out), x, c.sentences, c.tokens)
			for i := range c.sentences * c.tokens {
				for o := 0; o < out; o += 7 {
					want := expected(p, data, x, i/c.tokens*c.tokens, i%c.tokens, c.tokens, c.columns, o)
					if c.after == 1 {
						want = max(0, want)
					}
					isNear(t, "a number", got[i*out+o], want)
				}
			}
		})
	}
}

// expected is a number of a product of 8-bit numbers: of column o, for a token of the sentence that begins at a row.
func expected(p *product, data []byte, x []float32, first, token, tokens, columns, o int) float64 {
	own := x[(first+token)*columns:][:columns]
	if p.width > 1 {
		own = x[first*columns:][:tokens*columns]
	}
	greatest := float32(1e-30)
	for _, v := range own {
		greatest = max(greatest, max(v, -v))
	}
	sum := 0
	for j := range p.width {
		at := token - p.before + j
		if at < 0 || at >= tokens {
			continue
		}
		for k, v := range x[(first+at)*columns:][:columns] {
			sum += int(math.RoundToEven(float64(v*(127/greatest)))) * int(int8(data[(j*columns+k)*p.columns+o]))
		}
	}
	return float64(sum)*float64(p.scales[o])*float64(greatest) + float64(p.bias[o])
}

func TestAttention(t *testing.T) {
	if !matrix.Supported() {
		t.Skip("this processor has no VNNI")
	}
	const heads, dim, scale = 3, 16, 0.3
	for _, tokens := range []int{1, 4, 15, 33, 70} {
		l := one(step{op: attend, y: 0, z: 0, heads: heads, shared: heads, sight: sight{-1, -1}, scale: scale}, heads*dim, heads*dim)
		x := random(uint64(tokens), 3*tokens*heads*dim)
		got := run(t, l, x, 3, tokens)
		at := func(row, head int) []float32 { return x[(2*tokens+row)*heads*dim+head*dim:][:dim] }
		for head := range heads {
			row := tokens - 1
			sum, want := 0.0, make([]float64, dim)
			for other := range tokens {
				dot := 0.0
				for d, v := range at(row, head) {
					dot += float64(v) * float64(at(other, head)[d])
				}
				weight := math.Exp(scale * dot)
				sum += weight
				for d, v := range at(other, head) {
					want[d] += weight * float64(v)
				}
			}
			for d := range want {
				isNear(t, "what the last token attends to", got[(2*tokens+row)*heads*dim+head*dim+d], want[d]/sum)
			}
		}
	}
}

func TestGELU(t *testing.T) {
	if !matrix.Supported() {
		t.Skip("this processor has no VNNI")
	}
	x := append(random(2, 64), 0, 16, 8, -8, 40, -40, 1e-6, -1e-6, 3, -3, 1e30, -1e30, 0.5, -0.5, 100, -100)
	for i, got := range run(t, one(step{op: apply, y: none, z: none, after: geluOfProduct}, 16, 16), x, 1, len(x)/16) {
		v := float64(x[i])
		want := v / 2 * math.Erfc(-v/math.Sqrt2)
		if d := math.Abs(float64(got) - want); !(d <= 1e-6*(1+math.Abs(v))) {
			t.Errorf("gelu(%v) is %v, want %v", v, got, want)
		}
	}
}
