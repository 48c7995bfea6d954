package importer

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/encodetest"
	"bitextmine/encode/model"
	"bitextmine/train/traintest"

	"gopkg.in/yaml.v3"
)

// npy is an array as NumPy writes it.
func npy(a array) []byte {
	shape := strings.ReplaceAll(strings.Trim(fmt.Sprint(a.shape), "[]"), " ", ", ")
	if len(a.shape) == 1 {
		shape += ","
	}
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", a.dtype, shape)
	raw := append([]byte("\x93NUMPY\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(raw[8:], uint16(len(header)))
	return slices.Concat(raw, []byte(header), a.data)
}

// random are arrays of the model's shapes, with rows pieces in each block, and their file.
func random(t *testing.T, rows int) (arrays, []byte) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	z := arrays{}
	for name, shape := range shapes(rows) {
		size := 1
		for _, d := range shape {
			size *= d
		}
		a := array{shape: shape, dtype: "<f4"}
		if name[0] == 'q' {
			a.dtype = "|u1"
			for range size {
				a.data = append(a.data, byte(rng.IntN(64)))
			}
		} else {
			for range size {
				a.data = binary.LittleEndian.AppendUint32(a.data, math.Float32bits(float32(rng.NormFloat64()*0.05)))
			}
		}
		z[name] = a
	}
	z["eps"] = array{dtype: "<f8", data: binary.LittleEndian.AppendUint64(nil, math.Float64bits(1e-6))}
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	for name, a := range z {
		f, err := w.Create(name + ".npy")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(npy(a)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return z, archive.Bytes()
}

// reference computes the model in float64, step by step as the wheel's program does.
type reference struct{ arrays }

func (z reference) at(name string, i int) float64 { return float64(z.arrays[name].floats()[i]) }

func (z reference) times(x []float64, name string) []float64 {
	w := z.arrays[name].floats()
	out := make([]float64, len(w)/len(x))
	for i, v := range x {
		for k := range out {
			out[k] += v * float64(w[i*len(out)+k])
		}
	}
	return out
}

func (z reference) plus(x []float64, name string) []float64 {
	for i, v := range z.arrays[name].floats() {
		x[i] += float64(v)
	}
	return x
}

func normalise(x []float64, gains, biases []float32) {
	mean, variance := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		variance += (v - mean) * (v - mean) / float64(len(x))
	}
	for i := range x {
		x[i] = (x[i]-mean)/math.Sqrt(variance+1e-6)*float64(gains[i]) + float64(biases[i])
	}
}

func relu(x []float64) []float64 {
	for i := range x {
		x[i] = max(x[i], 0)
	}
	return x
}

func sum(a, b []float64) []float64 {
	for i := range a {
		a[i] += b[i]
	}
	return a
}

func (z reference) encode(ids []int32) []float64 {
	features := make([][]float64, len(ids))
	x := make([][]float64, len(ids))
	for t, id := range ids {
		block := int(id) % blocks
		q := z.arrays[fmt.Sprintf("q%d", block+1)].data[int(id)/blocks*width:][:width]
		row := make([]float64, width)
		for i, b := range q {
			row[i] = float64(b)*z.at("scale", block) + z.at("lo", block)
		}
		features[t] = row
		for _, o := range orders {
			x[t] = append(x[t], z.plus(z.times(row, fmt.Sprintf("proj%d", o.n)), fmt.Sprintf("proj_b%d", o.n))...)
		}
		normalise(x[t], z.concat([]string{"ln_g2", "ln_g3", "ln_g5"}), z.concat([]string{"ln_b2", "ln_b3", "ln_b5"}))
	}
	for i, o := range orders {
		h := make([][]float64, len(ids))
		for t := range ids {
			h[t] = slices.Clone(x[t][i*branch:][:branch])
		}
		for layer := 1; layer <= 2; layer++ {
			next := make([][]float64, len(ids))
			for t := range ids {
				var window []float64
				for tap := range o.n {
					if at := t - o.left + tap; at >= 0 && at < len(ids) {
						window = append(window, h[at]...)
					} else {
						window = append(window, make([]float64, branch)...)
					}
				}
				next[t] = sum(relu(z.plus(z.times(window, fmt.Sprintf("w%d_%d", layer, o.n)), fmt.Sprintf("b%d_%d", layer, o.n))), h[t])
			}
			h = next
		}
		for t := range ids {
			features[t] = append(features[t], h[t]...)
		}
	}
	pooled := make([]float64, width)
	for t := range ids {
		normalise(features[t], z.arrays["ln_g"].floats(), z.arrays["ln_b"].floats())
		sum(pooled, z.plus(z.times(features[t], "cnn_W"), "cnn_b"))
	}
	for i := range pooled {
		pooled[i] /= math.Sqrt(float64(len(ids)))
	}
	y1 := relu(sum(z.times(pooled, "p1"), z.times(relu(z.times(pooled, "d0")), "d1")))
	last := sum(z.times(y1, "p3"), z.times(relu(z.times(y1, "d2")), "d3"))
	norm := 0.0
	for i := range last {
		last[i] = math.Tanh(last[i])
		norm += last[i] * last[i]
	}
	for i := range last {
		last[i] /= math.Sqrt(norm)
	}
	return last
}

// TestGraph: the exported graph computes what the wheel's program does.
func TestGraph(t *testing.T) {
	z, raw := random(t, 3)
	d := &Draft{}
	d.Name, d.Out = "small", t.TempDir()
	d.Manifest.Name, d.Manifest.Normalise = "small", true
	if err := d.Open(d.Out); err != nil {
		t.Fatal(err)
	}
	pieces, err := os.ReadFile(encodetest.Pieces())
	if err != nil {
		t.Fatal(err)
	}
	if err := importUniversal(d, universalFiles{Weights: raw, Pieces: pieces, WeightsName: "weights.npz", PiecesName: "sp.model"}); err != nil {
		t.Fatal(err)
	}
	manifest, err := yaml.Marshal(d.Manifest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(d.Dir, model.FileName), manifest, 0o644); err != nil {
		t.Fatal(err)
	}
	e := traintest.Open(t, d.Dir)
	ids := [][]int32{{1, 20, 33, 50, 17, 18, 2}, {1, 4, 2}}
	got := make([]float32, len(ids)*width)
	if err := e.EncodeIDs(t.Context(), ids, got); err != nil {
		t.Fatal(err)
	}
	for i, sentence := range ids {
		for k, want := range (reference{z}).encode(sentence) {
			if d := float64(got[i*width+k]) - want; !(math.Abs(d) < 1e-5) {
				t.Fatalf("number %d of sentence %d is off by %v", k, i, d)
			}
		}
	}
}

func TestOtherArraysAreRefused(t *testing.T) {
	_, raw := random(t, 1)
	all, err := readNPZ(raw)
	if err != nil {
		t.Fatal(err)
	}
	z := arrays(all)
	if err := z.check(); err != nil {
		t.Fatal(err)
	}
	delete(z, "d3")
	if err := z.check(); err == nil || !strings.Contains(err.Error(), "its array d3 is") {
		t.Errorf("got %v", err)
	}
}

func FuzzNPY(f *testing.F) {
	f.Add(npy(array{shape: []int{2, 1}, dtype: "<f4", data: make([]byte, 8)}))
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{}"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if a, err := parseNPY(raw); err == nil && a.dtype == "<f4" {
			a.floats()
		}
	})
}
