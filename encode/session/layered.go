package session

import (
	"errors"

	ort "github.com/yalue/onnxruntime_go"

	"bitextmine/encode/layers"
	"bitextmine/encode/onnxgraph"
	"bitextmine/internal/badinput"
)

// Layered is a graph on the CPU in three parts: the program computes the layers, ONNX Runtime what stands before and
// after them.
type Layered struct {
	Layers        *layers.Layers
	Before, After *Part // After is nil if the layers give the output
}

// Part is a part of a graph, and the names of its inputs.
type Part struct {
	*ort.DynamicAdvancedSession
	Takes []string
}

// Layered loads the graph in parts, if the program can compute its layers; nil: it cannot.
func (s *Session) Layered() (_ *Layered, err error) {
	if s.data == nil || s.Table != nil || s.Single {
		return nil, nil
	}
	g, err := onnxgraph.Parse(s.data)
	if err != nil {
		return nil, badinput.Errorf("%s of encoder %s: %w", s.Model.Path(s.Model.ONNX), s.Model.Name, err)
	}
	l := &Layered{Layers: layers.Find(g, s.Model.Inputs.Mask, s.Output)}
	if l.Layers == nil {
		return nil, nil
	}
	before, takes := g.Part("", l.Layers.From)
	_, made, err := ort.GetInputOutputInfoWithONNXData(before)
	if err != nil || len(made) != 1 || len(made[0].Dimensions) != 3 ||
		made[0].DataType != ort.TensorElementDataTypeFloat ||
		made[0].Dimensions[2] > 0 && made[0].Dimensions[2] != int64(l.Layers.Columns) {
		return nil, nil // it is none of [batch, tokens, columns]
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if l.Before, err = s.part(before, takes, l.Layers.From); err != nil || l.Layers.To == s.Output {
		return l, err
	}
	after, takes := g.Part(l.Layers.To, s.Output)
	l.After, err = s.part(after, takes, s.Output)
	return l, err
}

func (s *Session) part(data []byte, takes []string, output string) (*Part, error) {
	loaded, err := load(s.Model, data, takes, output, nil)
	if err != nil {
		return nil, err
	}
	return &Part{loaded, takes}, nil
}

// Close frees what Layered loaded.
func (l *Layered) Close() error {
	var all []error
	for _, part := range []*Part{l.Before, l.After} {
		if part != nil {
			all = append(all, part.Destroy())
		}
	}
	return errors.Join(all...)
}
