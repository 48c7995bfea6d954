package word

import "math"

// expDigamma returns exp(ψ(x)) for x > 0, where ψ is the logarithmic derivative of the gamma function: by its
// recurrence up to 6, then by its asymptotic series, to about 1e-12 relative.
func expDigamma(x float64) float64 {
	shift := 0.0
	for ; x < 6; x++ {
		shift += 1 / x
	}
	y := 1 / (x * x)
	series := y * (1./12 - y*(1./120-y*(1./252-y*(1./240-y*(1./132-y*(691./32760-y/12))))))
	return x * math.Exp(-0.5/x-series-shift)
}
