package encode

import (
	"errors"
	"math"

	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/internal/subtag"
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

// centres are the vectors that a model's manifest subtracts.
type centres struct {
	languages map[string][]float32
	others    []float32 // centre of other languages; nil: there are no centres
}

// readCentres reads them.
func readCentres(m *model.Model) (centres, error) {
	if m.Centre.File == "" {
		return centres{}, nil
	}
	data, err := m.ReadFile(m.Centre.File)
	if err != nil {
		return centres{}, err
	}
	matrix, err := embedding.ParseArray(data)
	if err != nil {
		return centres{}, badinput.Errorf("centre.file of encoder %s: %s %w", m.Name, m.Path(m.Centre.File), err)
	}
	if rows := len(m.Centre.Languages) + 1; matrix.N != rows || matrix.Dim != m.Dim || matrix.F32 == nil {
		return centres{}, badinput.Errorf(
			"centre.file of encoder %s: %s must be %d x %d float32 values (one row more than centre.languages), not %d x %d: make it again with mine model centre",
			m.Name, m.Path(m.Centre.File), rows, m.Dim, matrix.N, matrix.Dim)
	}
	for _, x := range matrix.F32 {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return centres{}, badinput.Errorf(
				"centre.file of encoder %s: %s has a value that is not finite: make it again with mine model centre",
				m.Name, m.Path(m.Centre.File))
		}
	}
	row := func(i int) []float32 { return matrix.F32[i*m.Dim : (i+1)*m.Dim] }
	c := centres{languages: map[string][]float32{}, others: row(matrix.N - 1)}
	for i, language := range m.Centre.Languages {
		c.languages[language] = row(i)
	}
	return c, nil
}

// of is the vector of a language, or of the language without its script; nil if nothing is to be subtracted.
func (c centres) of(language string) []float32 {
	for _, name := range []string{language, subtag.Language(language)} {
		if vector, ok := c.languages[name]; ok {
			return vector
		}
	}
	return c.others
}
