// Package weights has the learned tensors: named float32 arrays on the host with their gradients.
//
// A step reads the tensors and adds to their gradients, and an optimiser changes the tensors in place. A device may
// have newer values (optimiser.Resident) until they are fetched for a checkpoint, so checkpoints and resumption are the
// same on all devices.
package weights

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
)

// Tensor is one learned array, row-major.
type Tensor struct {
	Name    string
	Shape   []int
	Data    []float32
	Grad    []float32 // sum over the step's batches; nil until NeedGrad
	NoDecay bool      // no weight decay: set for biases and the scales of normalisations
	Frozen  bool      // it is not learned: it has no gradient and no optimiser's state, and is in no checkpoint

	// Touched are the rows with a gradient in this step, ascending, for a table of which a batch reads few rows; nil
	// means all. The other rows of Grad are zero.
	Touched []int32
}

// Spec describes a tensor to be created.
type Spec struct {
	Name    string
	Shape   []int
	Init    Init
	Scale   float64 // standard deviation of Normal
	NoDecay bool
}

// Init is the way in which a new tensor is initialised.
type Init int

// Normal draws from N(0, Scale²); Xavier from U(-a, a), a = sqrt(6 / (fan in + fan out)) (Glorot and Bengio, 2010).
const (
	Zeros Init = iota
	Ones
	Normal
	Xavier
)

// New creates and initialises a tensor. The same seed and name give the same values, in whatever order tensors are
// created.
func New(spec Spec, seed uint64) *Tensor {
	t := &Tensor{Name: spec.Name, Shape: spec.Shape, Data: make([]float32, size(spec.Shape)), NoDecay: spec.NoDecay}
	rng := rand.New(rand.NewPCG(seed, hash(spec.Name)))
	switch spec.Init {
	case Zeros:
	case Ones:
		for i := range t.Data {
			t.Data[i] = 1
		}
	case Normal:
		for i := range t.Data {
			t.Data[i] = float32(rng.NormFloat64() * spec.Scale)
		}
	case Xavier:
		a := glorot(spec.Shape)
		for i := range t.Data {
			t.Data[i] = float32((2*rng.Float64() - 1) * a)
		}
	default:
		panic(fmt.Sprintf("weights: initialisation %d", spec.Init))
	}
	return t
}

// Learned returns the tensors that are not frozen.
func Learned(all []*Tensor) []*Tensor {
	return slices.DeleteFunc(slices.Clone(all), func(t *Tensor) bool { return t.Frozen })
}

// Count is the number of values in tensors.
func Count(all []*Tensor) int {
	n := 0
	for _, t := range all {
		n += len(t.Data)
	}
	return n
}

// Rows is the length of the first axis.
func (t *Tensor) Rows() int { return t.Shape[0] }

// Row returns row i of Data for a tensor [rows, width].
func (t *Tensor) Row(i int) []float32 {
	w := len(t.Data) / t.Shape[0]
	return t.Data[i*w : (i+1)*w : (i+1)*w]
}

// GradRow returns row i of Grad.
func (t *Tensor) GradRow(i int) []float32 {
	w := len(t.Grad) / t.Shape[0]
	return t.Grad[i*w : (i+1)*w : (i+1)*w]
}

// NeedGrad allocates Grad if there is none.
func (t *Tensor) NeedGrad() {
	if t.Grad == nil {
		t.Grad = make([]float32, len(t.Data))
	}
}

// AddGradient adds a gradient for every row. If an objective uses a whole table, call it after the encoder's own
// gradients, which touch few rows.
func (t *Tensor) AddGradient(gradient []float32) {
	t.NeedGrad()
	for i, x := range gradient {
		t.Grad[i] += x
	}
	t.Touched = nil
}

// ZeroGrad clears the gradient; for a table only the touched rows.
func (t *Tensor) ZeroGrad() {
	if t.Touched == nil {
		clear(t.Grad)
		return
	}
	for _, r := range t.Touched {
		clear(t.GradRow(int(r)))
	}
	t.Touched = t.Touched[:0]
}

// largest is a value whose square, summed over a vector, is still finite in float32.
const largest = 1e17

// Sound reports whether all values are usable: none is NaN, infinite, or so large that the norm of a vector of such
// values would be infinite.
func (t *Tensor) Sound() bool {
	for _, x := range t.Data {
		if !(x <= largest && x >= -largest) {
			return false
		}
	}
	return true
}

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

// The file names of a model's weights on Hugging Face: one file, or the index of several.
const (
	ModelName = "model.safetensors"
	indexName = "model.safetensors.index.json"
)

// readIndex reads model.safetensors.index.json: its path, and the shard of each tensor.
func readIndex(dir string) (path string, shardOf map[string]string, err error) {
	path = filepath.Join(dir, indexName)
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil, badinput.Errorf("%s has neither %s nor %s: convert the weights to safetensors", dir, ModelName,
			indexName)
	} else if err != nil {
		return "", nil, err
	}
	var index struct {
		WeightMap map[string]string `json:"weight_map"`
	}
	if err := json.Unmarshal(raw, &index); err != nil {
		return "", nil, badinput.Errorf("%s is not the index of a model: %w", path, err)
	}
	return path, index.WeightMap, nil
}

// shardsIn lists the shards of an index, in order. Each must be a file name, without a folder.
func shardsIn(index string, shardOf map[string]string) ([]string, error) {
	shards := slices.Compact(slices.Sorted(maps.Values(shardOf)))
	if len(shards) == 0 {
		return nil, badinput.Errorf("%s names no shard in weight_map", index)
	}
	for _, shard := range shards {
		if !hasPathIn(shard) {
			return nil, badinput.Errorf("%s names the shard %q, which is not a file beside it", index, shard)
		}
	}
	return shards, nil
}

// Match reports all tensors that are missing, have another shape or are not expected, in one badinput error.
func Match(specs []Spec, tensors []*Tensor) error {
	byName := map[string]*Tensor{}
	for _, t := range tensors {
		byName[t.Name] = t
	}
	var wrong []string
	for _, s := range specs {
		t := byName[s.Name]
		delete(byName, s.Name)
		switch {
		case t == nil:
			wrong = append(wrong, s.Name+" is missing")
		case !slices.Equal(t.Shape, s.Shape):
			wrong = append(wrong, fmt.Sprintf("%s has the shape %v instead of %v", s.Name, t.Shape, s.Shape))
		}
	}
	for _, t := range tensors {
		if byName[t.Name] == t {
			wrong = append(wrong, t.Name+" has no place in the model")
		}
	}
	if wrong != nil {
		return badinput.Errorf("the weights do not fit the model: %s", list(wrong))
	}
	return nil
}

// Arrange returns the tensors in the order of specs, with their NoDecay, if Match finds no problem.
func Arrange(specs []Spec, tensors []*Tensor) ([]*Tensor, error) {
	if err := Match(specs, tensors); err != nil {
		return nil, err
	}
	byName := map[string]*Tensor{}
	for _, t := range tensors {
		byName[t.Name] = t
	}
	out := make([]*Tensor, len(specs))
	for i, s := range specs {
		out[i] = byName[s.Name]
		out[i].NoDecay = s.NoDecay
	}
	return out, nil
}

// list joins sentences; of many only the first few.
func list(wrong []string) string {
	const maxListed = 5
	if len(wrong) > maxListed {
		return fmt.Sprintf("%s and %d more", strings.Join(wrong[:maxListed], "; "), len(wrong)-maxListed)
	}
	return strings.Join(wrong, "; ")
}
