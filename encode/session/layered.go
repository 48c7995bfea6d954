package session

import (
	"errors"
	"slices"
	"sync"
	"weak"

	ort "github.com/yalue/onnxruntime_go"

	"bitextmine/encode/layers"
	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
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

// file is the graph of an encoder as it stands in its file.
type file struct {
	data  []byte
	graph *onnxgraph.Graph
	err   error // error if the file is not a valid graph
}

// files holds the open files by encoder digest. The table takes most of a static encoder's memory, and sentence and
// token vectors need the same one.
var files = struct {
	sync.Mutex
	open map[string]weak.Pointer[file]
}{open: map[string]weak.Pointer[file]{}}

func openFile(m *model.Model) (*file, error) {
	key := m.Digest + " " + m.Path(m.ONNX)
	files.Lock()
	defer files.Unlock()
	if f := files.open[key].Value(); f != nil && m.Digest != "" {
		return f, nil
	}
	data, err := m.Graph()
	if err != nil {
		return nil, err
	}
	f := &file{data: data}
	f.graph, f.err = onnxgraph.Parse(data)
	for other, open := range files.open {
		if open.Value() == nil {
			delete(files.open, other)
		}
	}
	files.open[key] = weak.Make(f)
	return f, nil
}

// ofTable is the session of a static encoder as mine distill writes it, of which ONNX Runtime has nothing to say: it
// never sees the table. nil: it is none, or another than the manifest describes.
func ofTable(m *model.Model, f *file, inner bool) *Session {
	if f.err != nil || inner || len(m.External) > 0 || !slices.Equal(f.graph.Inputs, inputNames(m)) {
		return nil
	}
	if m.Pooling == TokenLevel {
		if table := static.FindTokens(f.graph, m.Output); table != nil && table.Dim() == m.Dim {
			return &Session{Model: m, Output: m.Output, Table: table, Rows: true, file: f}
		}
		return nil
	}
	table := tableOf(f.graph, m)
	if shape := f.graph.Shapes[m.Output]; table == nil || len(shape) != 2 || shape[1] != m.Dim {
		return nil
	}
	s := &Session{Model: m, Takes: []string{static.Sums}, Output: m.Output, Table: table, file: f}
	if s.Head = static.FindHead(f.graph, m.Output, table); s.Head == nil || s.Head.Dim() != m.Dim {
		s.Head, s.data = nil, f.graph.CutAfter(static.Sums, table.Dim(), m.Output)
	}
	return s
}

// tableOf is the table of a static encoder's graph; nil: it is none.
func tableOf(g *onnxgraph.Graph, m *model.Model) *static.Table {
	if len(m.External) > 0 || m.Pooling != model.None || len(inputNames(m)) != 1 {
		return nil
	}
	return static.Find(g, m.Output)
}

// IsTable says whether an encoder is a static one, whose vectors are sums of a table's rows. The CPU computes it at the
// speed of memory, so it is never on a GPU.
func IsTable(m *model.Model) (bool, error) {
	f, err := openFile(m)
	if err != nil {
		return false, err
	}
	if f.err != nil {
		return false, badinput.Errorf("%s of encoder %s: %w", m.Path(m.ONNX), m.Name, f.err)
	}
	return tableOf(f.graph, m) != nil, nil
}
