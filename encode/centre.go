package encode

import (
	"math"
	"strings"

	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
)

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
	base, _, _ := strings.Cut(language, "-")
	for _, name := range []string{language, base} {
		if vector, ok := c.languages[name]; ok {
			return vector
		}
	}
	return c.others
}
