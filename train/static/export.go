package static

import (
	"slices"

	"bitextmine/distil/student"
	"bitextmine/encode/model"
	"bitextmine/train/encoder"
	"bitextmine/train/export"
)

// Export returns the graph, and an encoder with its rounded table and head.
func (e *Encoder) Export(name string) (*export.Graph, encoder.Encoder, error) {
	head := *e.head
	head.Weights = slices.Clone(head.Weights)
	head.Take(e.network)
	values := slices.Clone(e.table().Data)
	for i := range values {
		values[i] *= pace
	}
	s := &student.Student{Name: name, Table: student.Quantise(values, e.width(), e.bits), Dim: e.width(),
		Power: e.power, Head: &head}
	g, err := s.Graph()
	if err != nil {
		return nil, nil, err
	}
	raw, err := g.Model()
	if err != nil {
		return nil, nil, err
	}
	m := *e.start
	m.Output = head.To
	exact, err := read(&m, raw)
	if err != nil {
		return nil, nil, err
	}
	return g, exact, nil
}

// Longest is 0.
func (e *Encoder) Longest() int { return 0 }

// Architecture adds nothing.
func (e *Encoder) Architecture() encoder.Architecture { return encoder.Architecture{} }

// Describe writes into a manifest how the exported graph is run, and the licence and origin of its start.
func (e *Encoder) Describe(m *model.Manifest) {
	m.Inputs, m.Output, m.Normalise = model.Inputs{IDs: export.IDs}, e.head.To, e.start.Normalise
	m.Tokens = model.TokenOutput{Output: student.TokensOutput, Dim: e.width(), Static: true}
	if m.Licence == "" {
		m.Licence = e.start.Licence
	}
	m.TrainedOn = slices.Concat(e.start.TrainedOn, m.TrainedOn)
}
