package optimiser

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/weights"
)

// Resident are tensors whose values, gradients and moments stay on a device from step to step. The arithmetic is
// adam's; a device may round it differently. The host's copies are old until Fetch. It implements
// device.Resident.
type Resident struct {
	rule  adam
	kept  []*kept
	of    map[*weights.Tensor]*kept // and of frozen tensors, which have no moments and no gradient
	execs struct{ squares, update, sum *graph.Exec }
}

// kept is a tensor on the device.
type kept struct {
	host     *weights.Tensor
	state    []*weights.Tensor
	value    *tensors.Tensor // nil: the host's is the newest
	moments  []*tensors.Tensor
	gradient *tensors.Tensor // nil: no batch yet
}

// Keeps reports whether an optimiser with these settings can have tensors on a device.
func (s Settings) Keeps() bool { return s.Kind != "adafactor" }

// Keep puts tensors on a device: frozen ones, and others, which must be among the optimiser's. Its settings must Keep.
func (o *Optimiser) Keep(backend compute.Backend, all []*weights.Tensor) *Resident {
	r := &Resident{rule: o.rule.(adam), of: map[*weights.Tensor]*kept{}}
	for i, t := range o.tensors {
		if slices.Contains(all, t) {
			r.of[t] = &kept{host: t, state: o.state[i]}
			r.kept = append(r.kept, r.of[t])
		}
	}
	for _, t := range all {
		if t.Frozen {
			r.of[t] = &kept{host: t}
		}
	}
	r.execs.squares, r.execs.sum = graph.MustNewExec(backend, squaresGraph), graph.MustNewExec(backend, graph.Add)
	r.execs.update = graph.MustNewExec(backend, r.updateGraph)
	r.execs.sum.SetMaxCache(-1)
	o.resident = r
	return r
}

func (r *Resident) has(t *weights.Tensor) bool { return r != nil && r.of[t] != nil }

// Value implements device.Resident.
func (r *Resident) Value(t *weights.Tensor) *tensors.Tensor {
	k := r.of[t]
	if k == nil {
		return nil
	}
	if k.value == nil {
		k.value = upload(k.host)
		for _, m := range k.state {
			k.moments = append(k.moments, upload(m))
		}
	}
	return k.value
}

// upload copies a tensor; the device gets it at the first use.
func upload(t *weights.Tensor) *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(slices.Clone(t.Data), t.Shape...)
}

// Add implements device.Resident.
func (r *Resident) Add(t *weights.Tensor, gradient *tensors.Tensor) error {
	k := r.of[t]
	if k == nil {
		return fmt.Errorf("the gradient of %s is on the device, but its values are not", t.Name)
	}
	if k.gradient == nil {
		k.gradient = gradient
		return nil
	}
	out, err := r.execs.sum.Call(k.gradient, gradient)
	if err != nil {
		return fmt.Errorf("add the gradients of %s: %w", t.Name, err)
	}
	err = errors.Join(k.gradient.FinalizeAll(), gradient.FinalizeAll())
	k.gradient = out[0]
	return err
}

// squares is the sum of the squares of all gradients.
func (r *Resident) squares() (float64, error) {
	args := make([]any, len(r.kept))
	for i, k := range r.kept {
		args[i] = k.gradient
	}
	out, err := r.execs.squares.Call(args...)
	if err != nil {
		return 0, fmt.Errorf("the norm of the gradients: %w", err)
	}
	sum := tensors.ToScalar[float64](out[0])
	return sum, out[0].FinalizeAll()
}

func squaresGraph(gradients []*graph.Node) *graph.Node {
	var sum *graph.Node
	for _, g := range gradients {
		square := graph.ReduceAllSum(graph.Square(graph.ConvertDType(g, dtypes.Float64)))
		if sum == nil {
			sum = square
		} else {
			sum = graph.Add(sum, square)
		}
	}
	return sum
}

// update computes a step of the rule and frees the gradients.
func (r *Resident) update(scale float32, rate float64, step int) error {
	c1, c2 := r.rule.corrections(rate, step)
	_, shrink := r.rule.decay(&weights.Tensor{}, rate)
	var old []*tensors.Tensor
	for _, x := range []float32{scale, c1, c2, shrink} {
		old = append(old, tensors.FromScalar(x))
	}
	for _, k := range r.kept {
		old = append(append(old, k.value, k.gradient), k.moments...)
	}
	args := make([]any, len(old))
	for i, t := range old {
		args[i] = t
	}
	out, err := r.execs.update.Call(args...)
	runtime.KeepAlive(old)
	if err != nil {
		return fmt.Errorf("update the weights: %w", err)
	}
	for _, t := range old {
		err = errors.Join(err, t.FinalizeAll())
	}
	for _, k := range r.kept {
		n := len(k.moments)
		k.value, k.moments, k.gradient, out = out[0], out[1:1+n], nil, out[1+n:]
	}
	return err
}

// updateGraph computes the new value and moments of every tensor from the factors and each tensor's value, gradient and
// moments, as adam.update does.
func (r *Resident) updateGraph(nodes []*graph.Node) []*graph.Node {
	scale, c1, c2, shrink := nodes[0], nodes[1], nodes[2], nodes[3]
	nodes = nodes[4:]
	b1, b2 := r.rule.Beta1, r.rule.Beta2
	var out []*graph.Node
	for _, k := range r.kept {
		n := len(k.state)
		x, d, m, v := nodes[0], graph.Mul(nodes[1], scale), nodes[2], nodes[3]
		if l2, _ := r.rule.decay(k.host, 0); l2 != 0 {
			d = graph.Add(d, graph.MulScalar(x, float64(l2)))
		}
		m = graph.Add(graph.MulScalar(m, b1), graph.MulScalar(d, float64(1-float32(b1))))
		v = graph.Add(graph.MulScalar(v, b2), graph.Mul(graph.MulScalar(d, float64(1-float32(b2))), d))
		divides, state := v, []*graph.Node{m, v}
		if n == 3 {
			divides = graph.Max(nodes[4], v)
			state = append(state, divides)
		}
		if _, shrinks := r.rule.decay(k.host, 1); shrinks != 1 {
			x = graph.Mul(x, shrink)
		}
		x = graph.Sub(x, graph.Div(graph.Mul(m, c1),
			graph.AddScalar(graph.Sqrt(graph.Mul(divides, c2)), r.rule.Epsilon)))
		out = append(append(out, x), state...)
		nodes = nodes[2+n:]
	}
	return out
}

// Fetch copies values and moments to the host's tensors.
func (r *Resident) Fetch() error {
	if r == nil {
		return nil
	}
	for _, k := range r.kept {
		if k.value == nil {
			continue
		}
		for i, from := range append([]*tensors.Tensor{k.value}, k.moments...) {
			to := append([]*weights.Tensor{k.host}, k.state...)[i]
			values, err := tensors.CopyFlatData[float32](from)
			if err != nil {
				return fmt.Errorf("copy %s from the device: %w", to.Name, err)
			}
			copy(to.Data, values)
		}
	}
	return nil
}

// Release frees the tensors on the device; the host's are then used again.
func (r *Resident) Release() error {
	if r == nil {
		return nil
	}
	var err error
	for _, k := range r.of {
		for _, t := range append([]*tensors.Tensor{k.value, k.gradient}, k.moments...) {
			if t != nil {
				err = errors.Join(err, t.FinalizeAll())
			}
		}
		k.value, k.gradient, k.moments = nil, nil, nil
	}
	return err
}
