package optimiser

import "math"

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

func (s Settings) rate(step, total int) float64 {
	if step < s.Warmup {
		return s.LearningRate * float64(step) / float64(s.Warmup)
	}
	return s.LearningRate * max(s.Floor, schedules[s.Schedule](s, step, total))
}
