package optimiser

import (
	"fmt"
	"math"
	"testing"

	"github.com/gomlx/compute"
	_ "github.com/gomlx/compute/gobackend"
	"github.com/gomlx/gomlx/core/tensors"

	"bitextmine/train/weights"
)

// learners are a table on the host and two tensors that may be on a device, one of which does not decay.
func learners() []*weights.Tensor {
	all := []*weights.Tensor{
		weights.New(weights.Spec{Name: "table", Shape: []int{5, 3}, Init: weights.Normal, Scale: 1}, 1),
		weights.New(weights.Spec{Name: "dense", Shape: []int{4, 3}, Init: weights.Normal, Scale: 1}, 1),
		weights.New(weights.Spec{Name: "bias", Shape: []int{3}, Init: weights.Normal, Scale: 1, NoDecay: true}, 1),
	}
	for _, w := range all {
		w.NeedGrad()
	}
	return all
}

// gradient is that of a tensor in a batch.
func gradient(w *weights.Tensor, batch int) []float32 {
	return weights.New(weights.Spec{Name: fmt.Sprint(w.Name, batch), Shape: w.Shape, Init: weights.Normal, Scale: 0.3}, 2).Data
}

// TestResidentIsAdam: on a device, weights and moments become what they become on the host, and the norm has both
// parts. What was fetched can be released and put there again.
func TestResidentIsAdam(t *testing.T) {
	for _, kind := range []string{"adam", "adamw", "amsgrad"} {
		t.Run(kind, func(t *testing.T) {
			s := settings(kind)
			s.Clip, s.WeightDecay = 0.5, 0.1
			host, device := learners(), learners()
			onHost, err := New(s, host)
			if err != nil {
				t.Fatal(err)
			}
			onDevice, err := New(s, device)
			if err != nil {
				t.Fatal(err)
			}
			backend, err := compute.NewWithConfig("go:ops_sequential")
			if err != nil {
				t.Fatal(err)
			}
			defer backend.Finalize()
			r := onDevice.Keep(backend, device[1:])
			for step := 1; step <= 6; step++ {
				for batch := range 2 {
					for i, w := range host {
						g := gradient(w, 2*step+batch)
						w.AddGradient(g)
						if i == 0 {
							device[0].AddGradient(g)
							continue
						}
						r.Value(device[i])
						if err := r.Add(device[i], tensors.FromFlatDataAndDimensions(g, w.Shape...)); err != nil {
							t.Fatal(err)
						}
					}
				}
				want, got := mustStep(t, onHost, step, 6, 2), mustStep(t, onDevice, step, 6, 2)
				if math.Abs(got-want) > 1e-6*want {
					t.Errorf("step %d: the norm is %v on the device, %v on the host", step, got, want)
				}
				if step == 3 {
					if err := r.Fetch(); err != nil {
						t.Fatal(err)
					}
					if err := r.Release(); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := r.Fetch(); err != nil {
				t.Fatal(err)
			}
			sameTensors(t, device, host)
			sameTensors(t, onDevice.State(), onHost.State())
			if err := r.Release(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func sameTensors(t *testing.T, got, want []*weights.Tensor) {
	t.Helper()
	for i, w := range want {
		for j, x := range w.Data {
			if off := math.Abs(float64(got[i].Data[j] - x)); !(off <= 1e-6*(1+math.Abs(float64(x)))) {
				t.Fatalf("%s[%d] is %v on the device, %v on the host", w.Name, j, got[i].Data[j], x)
			}
		}
	}
}

// TestResidentStopsAtNaN: a gradient on the device that is not finite changes nothing.
func TestResidentStopsAtNaN(t *testing.T) {
	all := learners()
	o, err := New(settings("adam"), all)
	if err != nil {
		t.Fatal(err)
	}
	backend, err := compute.NewWithConfig("go:ops_sequential")
	if err != nil {
		t.Fatal(err)
	}
	defer backend.Finalize()
	r := o.Keep(backend, all[1:])
	for _, w := range all[1:] {
		r.Value(w)
		g := gradient(w, 1)
		g[1] = float32(math.NaN())
		if err := r.Add(w, tensors.FromFlatDataAndDimensions(g, w.Shape...)); err != nil {
			t.Fatal(err)
		}
	}
	if norm := mustStep(t, o, 1, 1, 1); !math.IsNaN(norm) {
		t.Errorf("the norm is %v", norm)
	}
	if err := r.Fetch(); err != nil {
		t.Fatal(err)
	}
	sameTensors(t, all, learners())
	if err := r.Add(all[0], nil); err == nil {
		t.Error("a gradient was taken of a tensor that is on the host")
	}
}
