package session

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"weak"

	ort "github.com/yalue/onnxruntime_go"
	"golang.org/x/sys/unix"

	"bitextmine/encode/embedding"
	"bitextmine/encode/layers"
	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
	"bitextmine/internal/badinput"
)

// Layered is a graph on the CPU in parts: the program looks up the words, if the layers have a table of them, and
// computes the layers; ONNX Runtime computes what stands before and after them.
type Layered struct {
	Layers        *layers.Layers
	Before, After *Part // nil if there is nothing to compute
}

// Part is a part of a graph, and the names of its inputs.
type Part struct {
	*ort.DynamicAdvancedSession
	Takes []string
}

// Layered loads the graph in parts, if the program can compute its layers; nil: it cannot.
func (s *Session) Layered() (_ *Layered, err error) {
	if s.file == nil || s.Table != nil || s.Single || len(s.Model.External) > 0 {
		return nil, nil
	}
	g := s.file.graph
	l := &Layered{Layers: s.layers()}
	if s.layered = l.Layers != nil; !s.layered {
		return nil, nil
	}
	words := ""
	if w := l.Layers.Words; w != nil {
		if words = w.To; words == l.Layers.From && w.Columns != l.Layers.Columns {
			return nil, nil
		}
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close())
		}
	}()
	if words != l.Layers.From {
		before, takes := g.Part(words, l.Layers.From)
		_, made, err := ort.GetInputOutputInfoWithONNXData(before)
		if err != nil || len(made) != 1 || len(made[0].Dimensions) != 3 && words == "" ||
			made[0].DataType != ort.TensorElementDataTypeFloat || len(made[0].Dimensions) == 3 &&
			made[0].Dimensions[2] > 0 && made[0].Dimensions[2] != int64(l.Layers.Columns) {
			return nil, nil // it is none of [batch, tokens, columns]
		}
		if l.Before, err = s.part(before, takes, l.Layers.From); err != nil {
			return nil, err
		}
	}
	if l.Layers.To == s.Output {
		LoadedOnCPU()
		return l, nil
	}
	after, takes := g.Part(l.Layers.To, s.Output)
	l.After, err = s.part(after, takes, s.Output)
	return l, err
}

// layers looks for the layers that the program can compute.
func (s *Session) layers() *layers.Layers {
	if !s.looked {
		s.found = layers.Find(s.file.graph, s.Model.Inputs.IDs, s.Model.Inputs.Mask, s.Output)
		s.looked = true
	}
	return s.found
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
	data  []byte // mapped, unless the encoder is built in: nothing of it is needed after the file is closed
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
	f := &file{}
	var err error
	if m.OnDisk() {
		err = f.mapped(m.Path(m.ONNX))
	} else {
		f.data, err = m.Graph()
	}
	if err != nil {
		return nil, err
	}
	data := f.data
	f.graph, f.err = onnxgraph.Parse(data)
	for other, open := range files.open {
		if open.Value() == nil {
			delete(files.open, other)
		}
	}
	files.open[key] = weak.Make(f)
	return f, nil
}

// mapped maps the file for as long as it is in use.
func (f *file) mapped(path string) error {
	data, err := embedding.Map(path)
	if f.data = data; len(data) > 0 {
		runtime.AddCleanup(f, func(data []byte) { _ = unix.Munmap(data) }, data)
	}
	return err
}

// declared are the inputs and the output of the graph as it declares them; nil: it does not say all. An inner tensor,
// which it need not declare, may be a result of the layers.
func (s *Session) declared() (inputs, outputs []ort.InputOutputInfo) {
	g := s.file.graph
	for _, name := range append(slices.Clone(g.Inputs), s.Output) {
		kind := ort.TensorElementDataType(g.Types[name])
		info := ort.InputOutputInfo{Name: name, OrtValueType: ort.ONNXTypeTensor, DataType: kind}
		for _, size := range g.Shapes[name] {
			info.Dimensions = append(info.Dimensions, int64(size))
		}
		if name == s.Output && (kind == 0 || info.Dimensions == nil) && s.tokenLayer() {
			info.DataType = ort.TensorElementDataTypeFloat
			info.Dimensions = ort.NewShape(-1, -1, int64(s.layers().Width))
		}
		if info.DataType == 0 || info.Dimensions == nil {
			return nil, nil
		}
		inputs = append(inputs, info)
	}
	return inputs[:len(inputs)-1], inputs[len(inputs)-1:]
}

// tokenLayer says whether the layers that the program computes give the output itself, a row for each token.
func (s *Session) tokenLayer() bool {
	l := s.layers()
	return l != nil && l.To == s.Output && !l.Pooled
}

// Layers lists the tensors of tokens between a model's ids and one of its tensors, as onnxgraph.Graph.Layers.
func Layers(m *model.Model, to string) ([]string, error) {
	f, err := readable(m)
	if err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(f)
	return f.graph.Layers(m.Inputs.IDs, to), nil
}

// readable is a model's file, whose graph is valid. The graph lives as long as the file.
func readable(m *model.Model) (*file, error) {
	f, err := openFile(m)
	if err == nil && f.err != nil {
		err = badinput.Errorf("%s of encoder %s: %w", m.Path(m.ONNX), m.Name, f.err)
	}
	return f, err
}

// ofTable is the session of a static encoder as mine distill writes it, of which ONNX Runtime has nothing to say: it
// never sees the table. nil: the graph is not static, or not as the manifest describes.
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

// tableOf is the table of a static encoder's graph; nil for another graph.
func tableOf(g *onnxgraph.Graph, m *model.Model) *static.Table {
	if len(m.External) > 0 || m.Pooling != model.None || len(inputNames(m)) != 1 {
		return nil
	}
	return static.Find(g, m.Output)
}

// IsTable says whether an encoder is a static one, whose vectors are sums of a table's rows. The CPU computes it at the
// speed of memory, so it is never on a GPU.
func IsTable(m *model.Model) (bool, error) {
	f, err := readable(m)
	if err != nil {
		return false, err
	}
	defer runtime.KeepAlive(f)
	return tableOf(f.graph, m) != nil, nil
}
