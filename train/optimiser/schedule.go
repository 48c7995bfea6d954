package optimiser

import "math"

// schedules return the share of the peak after step of total steps, both including warm-up.
var schedules = map[string]func(step, warmup, total int) float64{
	"constant": func(int, int, int) float64 { return 1 },
	"linear": func(step, warmup, total int) float64 {
		return 1 - progress(step, warmup, total)
	},
	"cosine": func(step, warmup, total int) float64 {
		return (1 + math.Cos(math.Pi*progress(step, warmup, total))) / 2
	},
	// Starts at the peak at the end of the warm-up (Vaswani et al., 2017).
	"inverse_sqrt": func(step, warmup, _ int) float64 {
		return math.Sqrt(float64(max(1, warmup)) / float64(max(1, step)))
	},
}

func progress(step, warmup, total int) float64 {
	if total <= warmup {
		return 0
	}
	return min(1, float64(step-warmup)/float64(total-warmup))
}

func (s Settings) rate(step, total int) float64 {
	if step < s.Warmup {
		return s.LearningRate * float64(step) / float64(s.Warmup)
	}
	return s.LearningRate * max(s.Floor, schedules[s.Schedule](step, s.Warmup, total))
}
