package static

import (
	"slices"

	"bitextmine/distil/student"
	"bitextmine/encode/model"
	"bitextmine/train/export"
)

// Export returns the graph, and the encoder that it is: its table and its head are rounded.
func (e *Encoder) Export(name string) (*export.Graph, *Encoder, error) {
	head := *e.head
	head.Weights = slices.Clone(head.Weights)
	head.Take(e.network)
	values := slices.Clone(e.table().Data)
	for i := range values {
		values[i] *= pace
	}
	s := &student.Student{Name: name, Table: student.Quantise(values, e.width(), e.bits), Dim: e.width(), Power: e.power, Head: &head}
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
	return g, exact, err
}

// Describe writes into a manifest how the exported graph is run, and what of its start holds for it, too.
func (e *Encoder) Describe(m *model.Manifest) {
	m.Inputs, m.Output, m.Normalise = model.Inputs{IDs: export.IDs}, e.head.To, e.start.Normalise
	m.Tokens = model.TokenOutput{Output: student.TokensOutput, Dim: e.width(), Static: true}
	if m.Licence == "" {
		m.Licence = e.start.Licence
	}
	m.TrainedOn = slices.Concat(e.start.TrainedOn, m.TrainedOn)
}
