// Package optimiser updates tensors by their gradients: Adam, AdamW, AMSGrad and Adafactor, with clipping and schedules
// of the learning rate.
//
// Tensors are changed in place, rows in parallel. Every value depends only on its own row and on sums in a fixed order,
// so the number of threads does not change the result.
package optimiser

import (
	"math"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
	"bitextmine/internal/parallel"
	"bitextmine/train/weights"
)

// Settings are the choice of an optimiser and its schedule.
type Settings struct {
	Kind         string  `yaml:"kind"`          // adam, adamw, amsgrad, adafactor
	LearningRate float64 `yaml:"learning_rate"` // the peak of the schedule
	Beta1        float64 `yaml:"beta1"`
	Beta2        float64 `yaml:"beta2"`
	Epsilon      float64 `yaml:"epsilon"`
	WeightDecay  float64 `yaml:"weight_decay"` // added to the gradient (L2); adamw: subtracted from the weights
	Clip         float64 `yaml:"clip"`         // maximum L2 norm of all gradients together; 0 means no limit

	Schedule string  `yaml:"schedule"`         // constant, linear, inverse_sqrt, cosine, cosine_restarts
	Warmup   int     `yaml:"warmup"`           // steps of linear growth from 0 to the peak
	Floor    float64 `yaml:"floor"`            // smallest share of the peak that the schedule falls to
	Cycles   int     `yaml:"cycles,omitempty"` // number of cycles of cosine_restarts
}

// Defaults are Adam's own (Kingma and Ba, 2015), with the decay of the second moment that is usual for transformers.
func Defaults() Settings {
	return Settings{Kind: "adam", LearningRate: 3e-4, Beta1: 0.9, Beta2: 0.98, Epsilon: 1e-8, Schedule: "linear"}
}

var kinds = []string{"adam", "adamw", "amsgrad", "adafactor"}

// Validate reports all problems in one error.
func (s Settings) Validate() error {
	var wrong badinput.Problems
	check := wrong.Unless
	check(slices.Contains(kinds, s.Kind), "kind is %q: take one of %s", s.Kind, strings.Join(kinds, ", "))
	check(schedules[s.Schedule] != nil, "schedule is %q: take constant, linear, inverse_sqrt, cosine or cosine_restarts", s.Schedule)
	check(s.LearningRate > 0 && finite(s.LearningRate), "learning_rate is %g: it must be a number above 0", s.LearningRate)
	of := Defaults()
	check(s.Kind != "adafactor" || s.Beta1 == of.Beta1 && s.Beta2 == of.Beta2 && s.Epsilon == of.Epsilon,
		"adafactor has no beta1, beta2 or epsilon: leave them out")
	check(s.Beta1 >= 0 && s.Beta1 < 1, "beta1 is %g: it must be in [0, 1)", s.Beta1)
	check(s.Beta2 > 0 && s.Beta2 < 1, "beta2 is %g: it must be in (0, 1)", s.Beta2)
	check(s.Epsilon > 0, "epsilon is %g: it must be above 0", s.Epsilon)
	check(s.WeightDecay >= 0, "weight_decay is %g: it cannot be negative", s.WeightDecay)
	check(s.Clip >= 0, "clip is %g: it cannot be negative", s.Clip)
	check(s.Warmup >= 0, "warmup is %d: it cannot be negative", s.Warmup)
	check((s.Schedule == "cosine_restarts") == (s.Cycles > 0) && s.Cycles >= 0,
		"cycles is %d: it must be above 0 with cosine_restarts, and not be there otherwise", s.Cycles)
	check(s.Floor >= 0 && s.Floor <= 1, "floor is %g: it must be in [0, 1]", s.Floor)
	return wrong.Err("the optimiser's settings: ")
}

// rule is one optimiser's update of one tensor. step counts from 1.
type rule interface {
	// moments are the tensors of state that the rule needs for t, by name. They start at zero.
	moments(t *weights.Tensor) []weights.Spec
	update(t *weights.Tensor, state []*weights.Tensor, rate float64, step int)
}

// Optimiser holds the state for a set of tensors.
type Optimiser struct {
	settings Settings
	rule     rule
	tensors  []*weights.Tensor
	state    [][]*weights.Tensor
	resident *Resident // nil: all is on the host
}

// New returns an optimiser for tensors. They must have gradients at the first Step.
func New(settings Settings, tensors []*weights.Tensor) (*Optimiser, error) {
	if err := settings.Validate(); err != nil {
		return nil, err
	}
	o := &Optimiser{settings: settings, tensors: tensors}
	switch settings.Kind {
	case "adafactor":
		o.rule = adafactor{settings}
	default:
		o.rule = adam{settings}
	}
	for _, t := range tensors {
		var moments []*weights.Tensor
		for _, spec := range o.rule.moments(t) {
			moments = append(moments, weights.New(spec, 0))
		}
		o.state = append(o.state, moments)
	}
	return o, nil
}

// State returns the tensors that a checkpoint must store in addition to the weights.
func (o *Optimiser) State() []*weights.Tensor {
	var all []*weights.Tensor
	for _, moments := range o.state {
		all = append(all, moments...)
	}
	return all
}

// Step updates the tensors by their gradients, which are sums over batches and are averaged here. It then clears the
// gradients and returns their norm before clipping. step counts from 1 to total. If the norm is not finite, Step
// changes nothing and the caller must stop. Only a device causes an error.
func (o *Optimiser) Step(step, total, batches int) (norm float64, err error) {
	host := o.onHost()
	squares := squaresOf(host)
	if o.resident != nil {
		onDevice, err := o.resident.squares()
		if err != nil {
			return 0, err
		}
		squares += onDevice
	}
	norm = math.Sqrt(squares) / float64(batches)
	if !finite(norm) {
		return norm, nil
	}
	scale := 1 / float64(batches)
	if o.settings.Clip > 0 && norm > o.settings.Clip {
		scale *= o.settings.Clip / norm
	}
	if scale != 1 {
		scaleGradients(host, float32(scale))
	}
	rate := o.Rate(step, total)
	for i, t := range o.tensors {
		if !o.resident.has(t) {
			o.rule.update(t, o.state[i], rate, step)
			t.ZeroGrad()
		}
	}
	if o.resident != nil {
		err = o.resident.update(float32(scale), rate, step)
	}
	return norm, err
}

// onHost are the tensors whose values are on the host.
func (o *Optimiser) onHost() []*weights.Tensor {
	return slices.DeleteFunc(slices.Clone(o.tensors), o.resident.has)
}

// Rate is the learning rate of a step.
func (o *Optimiser) Rate(step, total int) float64 { return o.settings.rate(step, total) }

// eachPart calls do, from several goroutines, for ranges of t.Data that together cover the rows with gradients.
func eachPart(t *weights.Tensor, do func(lo, hi int)) {
	rows, width := t.Rows(), len(t.Data)/t.Rows()
	if t.Touched != nil {
		rows = len(t.Touched)
	}
	parallel.Ranges(rows, width, func(from, to int) {
		if t.Touched == nil {
			do(from*width, to*width)
			return
		}
		for _, r := range t.Touched[from:to] {
			do(int(r)*width, (int(r)+1)*width)
		}
	})
}

// squaresOf is the square of the L2 norm of all gradients in float64, summed over each row and then over the rows in
// order.
func squaresOf(tensors []*weights.Tensor) float64 {
	var sum float64
	for _, t := range tensors {
		width := len(t.Data) / t.Rows()
		squares := make([]float64, t.Rows())
		eachPart(t, func(lo, hi int) {
			for r := lo / width; r < hi/width; r++ {
				for _, g := range t.Grad[r*width : (r+1)*width] {
					squares[r] += float64(g) * float64(g)
				}
			}
		})
		for _, s := range squares {
			sum += s
		}
	}
	return sum
}

func scaleGradients(tensors []*weights.Tensor, by float32) {
	for _, t := range tensors {
		eachPart(t, func(lo, hi int) {
			for i := range t.Grad[lo:hi] {
				t.Grad[lo+i] *= by
			}
		})
	}
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// schedules return the share of the peak after step of total steps, both including warm-up.
var schedules = map[string]func(s Settings, step, total int) float64{
	"constant": func(Settings, int, int) float64 { return 1 },
	"linear": func(s Settings, step, total int) float64 {
		return 1 - progress(step, s.Warmup, total)
	},
	"cosine": func(s Settings, step, total int) float64 {
		return cosine(progress(step, s.Warmup, total))
	},
	// Falls from the peak several times (Loshchilov and Hutter, 2017), each time over as many steps.
	"cosine_restarts": func(s Settings, step, total int) float64 {
		at := progress(step, s.Warmup, total)
		if at == 1 {
			return 0
		}
		_, within := math.Modf(at * float64(s.Cycles))
		return cosine(within)
	},
	// Starts at the peak at the end of the warm-up (Vaswani et al., 2017).
	"inverse_sqrt": func(s Settings, step, _ int) float64 {
		return math.Sqrt(float64(max(1, s.Warmup)) / float64(max(1, step)))
	},
}

// cosine falls from 1 at 0 to 0 at 1.
func cosine(at float64) float64 { return (1 + math.Cos(math.Pi*at)) / 2 }

func progress(step, warmup, total int) float64 {
	if total <= warmup {
		return 0
	}
	return min(1, float64(step-warmup)/float64(total-warmup))
}

// Learns reports whether a training of so many steps has one with a rate above 0: the last of a schedule may have none.
func (s Settings) Learns(steps int) bool { return steps > 1 || s.rate(1, steps) > 0 }

func (s Settings) rate(step, total int) float64 {
	if step < s.Warmup {
		return s.LearningRate * float64(step) / float64(s.Warmup)
	}
	return s.LearningRate * max(s.Floor, schedules[s.Schedule](s, step, total))
}
