package encode

import (
	"math"

	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
)

// readCentre reads the vector that a model's manifest subtracts; nil if there is none.
func readCentre(m *model.Model) ([]float32, error) {
	if m.Centre.File == "" {
		return nil, nil
	}
	data, err := m.ReadFile(m.Centre.File)
	if err != nil {
		return nil, err
	}
	matrix, err := embedding.ParseArray(data)
	if err != nil {
		return nil, badinput.Errorf("centre.file of encoder %s: %s %w", m.Name, m.Path(m.Centre.File), err)
	}
	if matrix.N != 1 || matrix.Dim != m.Dim || matrix.F32 == nil {
		return nil, badinput.Errorf("centre.file of encoder %s: %s must be one row of %d float32 values, not %d of %d: make it again with mine model centre",
			m.Name, m.Path(m.Centre.File), m.Dim, matrix.N, matrix.Dim)
	}
	for _, x := range matrix.F32 {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return nil, badinput.Errorf("centre.file of encoder %s: %s has a value that is not finite: make it again with mine model centre", m.Name, m.Path(m.Centre.File))
		}
	}
	return matrix.F32, nil
}
