package encode

import (
	"errors"
	"math"

	"bitextmine/encode/model"
)

// pool computes vector [dim] from out, which is [dim] for None and [tokens, dim] otherwise. There is no padding, so
// every token counts.
func pool(vector, out []float32, how model.Pooling) {
	dim := len(vector)
	copy(vector, out[:dim])
	if how == model.None || how == model.CLS {
		return
	}
	for rest := out[dim:]; len(rest) > 0; rest = rest[dim:] {
		for d, x := range rest[:dim] {
			if how == model.Mean {
				vector[d] += x
			} else {
				vector[d] = max(vector[d], x)
			}
		}
	}
	if how == model.Mean {
		tokens := float32(len(out) / dim)
		for d := range vector {
			vector[d] /= tokens
		}
	}
}

// finish returns an error for a vector that is zero or not finite. If normalise is set, it divides the vector by its L2
// norm (summed in float64, in order). A centre, if there is one, is subtracted from the vector of length 1, and what is
// left is given length 1.
func finish(vector []float32, normalise bool, centre []float32) error {
	if centre == nil {
		return scale(vector, normalise)
	}
	if err := scale(vector, true); err != nil {
		return err
	}
	for d, x := range centre {
		vector[d] -= x
	}
	return scale(vector, true)
}

// scale is finish without a centre.
func scale(vector []float32, normalise bool) error {
	sum := 0.0
	for _, x := range vector {
		sum += float64(x) * float64(x)
	}
	switch {
	case math.IsNaN(sum) || math.IsInf(sum, 0):
		return errors.New("is not finite")
	case sum == 0:
		return errors.New("is zero")
	}
	if normalise {
		inverse := 1 / math.Sqrt(sum)
		for d, x := range vector {
			vector[d] = float32(float64(x) * inverse)
		}
	}
	return nil
}

// Unit divides a vector by its L2 norm, as an encoder's last step does. It returns an error if the vector is zero or
// not finite.
func Unit(vector []float32) error { return scale(vector, true) }
