// Package session reads the graph of an encoder, verifies it against the manifest, and loads it in ONNX Runtime: on the
// CPU, or on GPUs by one of ONNX Runtime's providers, which must then prove that it computes the vectors.
package session

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	ort "github.com/yalue/onnxruntime_go"
	"golang.org/x/sys/cpu"

	"bitextmine/encode/layers"
	"bitextmine/encode/model"
	"bitextmine/encode/onnxgraph"
	"bitextmine/encode/static"
	"bitextmine/internal/badinput"
	"bitextmine/internal/usage"
)

// Session is a graph that is ready to be loaded, or what is left of it where a table computes its beginning.
type Session struct {
	Model  *model.Model  // manifest and graph, completed by Open; for GPUs with the graph's own pooling
	Takes  []string      // names of inputs
	Output string        // name of the tensor that is read
	Single bool          // it mixes the rows of a batch, so a batch must hold one sentence
	Table  *static.Table // nil: the graph takes ids; otherwise the table's sums
	Head   *static.Head  // computes the vectors from the table's sums; nil: ONNX Runtime computes them
	Rows   bool          // the output is the table's rows
	IDs    int           // number of ids of the graph, set on a GPU, which does not check them; 0: unknown

	data []byte // nil: the graph is loaded from its file
	file *file  // shared by all users that have it open
	// found are the layers that the program can compute, once it has looked for them; nil: there are none.
	found  *layers.Layers
	looked bool
	// layered says that the program computes layers, whose weights are in the file.
	layered bool
}

// MinRows is the smallest number of rows that the graph is run on. With a batch of one row, ONNX Runtime drops axes of
// one element before it reduces and then sums in another order, so the last bits of the vector would differ from those
// of the same row in a larger batch. A row that is the only one of its length is therefore given twice.
const MinRows = 2

// TokenLevel is the pooling of a token-level output, which is not pooled.
const TokenLevel model.Pooling = "tokens"

// Load loads the graph on the CPU. Every operator runs on the thread that called it: many goroutines share what is
// loaded, which uses the cores better than many threads within one small matrix product do.
func (s *Session) Load() (_ *ort.DynamicAdvancedSession, err error) {
	switch m := s.Model; {
	case s.data != nil || s.file == nil:
		return s.load(nil)
	case !m.OnDisk():
		return load(m, s.file.graph.Cut(s.Output), s.Takes, s.Output, nil)
	default:
		// ONNX Runtime maps weights from their files, where it would make copies of those that it is given. It does not
		// follow links out of the folder that it is told.
		external := m.OpenExternal()
		defer func() { err = errors.Join(err, external.Close()) }()
		g, err := s.file.graph.Outside(s.file.data, external.Where)
		if err != nil {
			return nil, badinput.Errorf("%s of encoder %s: %w", m.Path(m.ONNX), m.Name, err)
		}
		return loadIn("/", m, g.Cut(s.Output), s.Takes, s.Output, nil)
	}
}

// Complete says that ONNX Runtime has nothing to compute.
func (s *Session) Complete() bool { return s.Rows || s.Head != nil }

// Loaded forgets the graph, once it is loaded as often as is needed: all but what a table and layers take of its file.
func (s *Session) Loaded() {
	if s.data = nil; s.Table == nil && !s.layered {
		s.file = nil
	}
}

func (s *Session) load(configure func(*ort.SessionOptions) error) (*ort.DynamicAdvancedSession, error) {
	return load(s.Model, s.data, s.Takes, s.Output, configure)
}

// load loads a graph, or the one of the model's file if data is nil.
func load(m *model.Model, data []byte, takes []string, output string,
	configure func(*ort.SessionOptions) error) (loaded *ort.DynamicAdvancedSession, err error) {
	return loadIn("", m, data, takes, output, configure)
}

// weightsFolder is ONNX Runtime's setting of the folder with the files that a graph in memory refers to.
const weightsFolder = "session.model_external_initializers_file_folder_path"

// loadIn is load for a graph that refers to files in a folder.
func loadIn(folder string, m *model.Model, data []byte, takes []string, output string,
	configure func(*ort.SessionOptions) error) (loaded *ort.DynamicAdvancedSession, err error) {
	options, err := ort.NewSessionOptions()
	if err != nil {
		return nil, fmt.Errorf("open encoder %s: %w", m.Name, err)
	}
	defer func() { err = errors.Join(err, options.Destroy()) }()
	if err := errors.Join(options.SetIntraOpNumThreads(1), options.SetInterOpNumThreads(1)); err != nil {
		return nil, fmt.Errorf("open encoder %s: %w", m.Name, err)
	}
	if folder != "" {
		if err := options.AddSessionConfigEntry(weightsFolder, folder); err != nil {
			return nil, fmt.Errorf("open encoder %s: %w", m.Name, err)
		}
	}
	if configure != nil {
		if err := configure(options); err != nil {
			return nil, err
		}
	}
	if data != nil && configure == nil && saturates {
		data = exact(data)
	}
	if data != nil {
		loaded, err = ort.NewDynamicAdvancedSessionWithONNXData(data, takes, []string{output}, options)
	} else {
		loaded, err = ort.NewDynamicAdvancedSession(m.Path(m.ONNX), takes, []string{output}, options)
	}
	if err != nil {
		return nil, fmt.Errorf("open encoder %s: %w", m.Name, err)
	}
	if configure == nil {
		LoadedOnCPU()
	}
	return loaded, nil
}

// saturates says that ONNX Runtime cuts sums of 8-bit products of numbers without and with a sign short on this CPU.
var saturates = runtime.GOARCH == "amd64" && !cpu.X86.HasAVX512VNNI && !cpu.X86.HasAVXVNNI

// exact is a graph whose 8-bit products ONNX Runtime sums exactly on every CPU, as the program does itself.
func exact(data []byte) []byte {
	g, err := onnxgraph.Parse(data)
	if err != nil {
		return data // ONNX Runtime says what is wrong with it
	}
	if other := g.Unsigned(); other != nil {
		return other
	}
	return data
}

// Open reads the graph and verifies that it has the inputs and outputs that the manifest names. ONNX Runtime must be
// acquired.
//
// inner says that the output is a tensor of the graph that the manifest does not name, whose width the graph gives: it
// becomes the model's Dim. Single: dynamic quantisation takes its scale from the whole batch, so the other sentences of
// a batch would change a sentence's vector.
func Open(m *model.Model, inner bool) (s *Session, err error) {
	if err := fits(m); err != nil {
		return nil, err
	}
	f, err := openFile(m)
	if err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(f) // its graph is in mapped memory
	if s = ofTable(m, f, inner); s != nil {
		return s, nil
	}
	if m.Quantised > 0 && len(m.External) == 0 && f.err == nil && f.graph.Has(m.Output) && tableOf(f.graph, m) == nil {
		// Nothing of the graph is copied before it is known which parts the program computes itself.
		s = &Session{Model: m, Takes: inputNames(m), Output: m.Output, Single: f.quantisesRows(), file: f}
		if inputs, outputs := s.declared(); inputs != nil {
			return s, verify(m, inner, inputs, outputs)
		}
	}
	inputs, _, err := describe(m, f)
	if err != nil {
		return nil, err
	}
	s = &Session{Model: m, Takes: inputNames(m), Output: m.Output, Single: f.quantisesRows()}
	left, outputs, err := s.left(f, inner)
	if err != nil {
		return nil, err
	}
	if s.Table == nil {
		inputs = left
	}
	return s, verify(m, inner, inputs, outputs)
}

// OpenGraph reads the graph in a file that is no encoder's, and lists its inputs and outputs. The caller says which of
// them are Takes and Output before it loads it.
func OpenGraph(path string) (s *Session, inputs, outputs []ort.InputOutputInfo, err error) {
	m := model.OnlyGraph(path)
	f, err := openFile(m)
	if err == nil {
		err = f.err
	}
	if err == nil {
		inputs, outputs, err = infoOf(m, f.graph, whole)
	}
	return &Session{Model: m, file: f}, inputs, outputs, err
}

// quantisesRows says whether an operator chooses a scale for all rows of a batch.
func (f *file) quantisesRows() bool {
	const operator = "DynamicQuantize"
	if f.err != nil || f.graph.Functions {
		return bytes.Contains(f.data, []byte(operator))
	}
	return slices.ContainsFunc(f.graph.Nodes, func(n onnxgraph.Node) bool { // weights are not read for it
		return bytes.Contains(n.Raw, []byte(operator))
	})
}

// machineMemory is the memory that weights must fit into; a test has less.
var machineMemory = usage.MachineMemory

// fits refuses an encoder with more bytes of weights than the machine has memory, before any of them is read.
func fits(m *model.Model) error {
	size, err := m.Size(append([]string{m.ONNX}, m.External...)...)
	if err != nil {
		return err
	}
	if memory := machineMemory(); memory > 0 && size > memory {
		return badinput.Errorf("encoder %s has %.1f GB of weights, but this machine has %.1f GB of memory: quantise it with mine model quantise on a larger machine, or take a smaller encoder", m.Name, float64(size)/1e9, float64(memory)/1e9)
	}
	return nil
}

// left describes what is left of a graph for its output: ONNX Runtime computes all that stands in a graph, the tensors
// of tokens beside those of sentences, too. A static encoder's is left from its sums on, which the table computes.
func (s *Session) left(f *file, inner bool) (inputs, outputs []ort.InputOutputInfo, err error) {
	g, m := f.graph, s.Model
	switch {
	case f.err != nil:
		return nil, nil, badinput.Errorf("%s of encoder %s: %w", m.Path(m.ONNX), m.Name, f.err)
	case g.Has(m.Output):
	case m.Pooling == TokenLevel || inner:
		return nil, nil, badinput.Errorf("%s of encoder %s: %s is %q, which is no tensor of %s: correct the name",
			m.Path(model.FileName), m.Name, outputField(m, inner), m.Output, m.ONNX)
	default: // verify names the outputs that there are
		return describe(m, f)
	}
	s.file = f
	if s.Table = tableOf(g, m); s.Table != nil {
		s.Takes, s.data = []string{static.Sums}, g.CutAfter(static.Sums, s.Table.Dim(), m.Output)
		_, outputs, err = ort.GetInputOutputInfoWithONNXData(s.data)
	} else {
		inputs, outputs, err = infoOf(m, g, func(g *onnxgraph.Graph) []byte { return g.Cut(m.Output) })
	}
	if err != nil {
		err = badinput.Errorf("%s of encoder %s: ONNX Runtime does not load the part of %s that gives %q: %w",
			m.Path(model.FileName), m.Name, m.ONNX, m.Output, err)
	}
	return inputs, outputs, err
}

// infoOf lists the inputs and outputs of a model made of a graph. Large weights, which would be copied, are left out,
// unless an operator wants one to be a constant, or something is wrong.
func infoOf(m *model.Model, g *onnxgraph.Graph, made func(*onnxgraph.Graph) []byte) (inputs, outputs []ort.InputOutputInfo, err error) {
	external := m.OpenExternal()
	defer func() { err = errors.Join(err, external.Close()) }()
	declared, err := g.Declared(external.Open)
	if err == nil {
		inputs, outputs, err = ort.GetInputOutputInfoWithONNXData(made(declared))
	}
	if err == nil {
		ofWeight := func(in ort.InputOutputInfo) bool { return !slices.Contains(g.Inputs, in.Name) }
		return slices.DeleteFunc(inputs, ofWeight), outputs, nil
	}
	if len(m.External) > 0 {
		return ort.GetInputOutputInfo(m.Path(m.ONNX))
	}
	return ort.GetInputOutputInfoWithONNXData(made(g))
}

func whole(g *onnxgraph.Graph) []byte { return g.Replace(nil, nil) }

// describe lists the graph's inputs and outputs. A graph without external_data is loaded from memory, where ONNX
// Runtime has no directory to look for weights that the manifest, and so the digest, does not list.
func describe(m *model.Model, f *file) (inputs, outputs []ort.InputOutputInfo, err error) {
	hint := "; if its weights are in files beside it, list them in external_data"
	if len(m.External) > 0 {
		if hint = ""; !m.OnDisk() {
			return nil, nil, badinput.Errorf(
				"encoder %s has external_data, which works only for an encoder in a directory on disk", m.Name)
		}
	}
	if f.err != nil {
		inputs, outputs, err = ort.GetInputOutputInfoWithONNXData(f.data)
	} else {
		inputs, outputs, err = infoOf(m, f.graph, whole)
	}
	if err != nil && strings.Contains(err.Error(), "opset") {
		hint = "; export it with an older opset"
	}
	if err != nil {
		return nil, nil, badinput.Errorf("%s of encoder %s is not a graph that ONNX Runtime can load: %w%s",
			m.Path(m.ONNX), m.Name, err, hint)
	}
	return inputs, outputs, nil
}

// inputNames lists the graph's inputs in the order in which runner fills them.
func inputNames(m *model.Model) []string {
	names := []string{m.Inputs.IDs}
	for _, name := range []string{m.Inputs.Mask, m.Inputs.TokenTypes, m.Inputs.Positions} {
		if name != "" {
			names = append(names, name)
		}
	}
	return names
}

// verify compares the graph's inputs and output with the manifest. If the output is an inner tensor, whose width no
// manifest gives, it sets Dim.
func verify(m *model.Model, inner bool, inputs, outputs []ort.InputOutputInfo) error {
	mismatch := func(field, name, format string, args ...any) error {
		return badinput.Errorf("%s of encoder %s: %s is %q, but %s %s: correct the field or export the graph again",
			m.Path(model.FileName), m.Name, field, name, m.ONNX, fmt.Sprintf(format, args...))
	}
	fields := map[string]string{m.Inputs.IDs: "inputs.ids", m.Inputs.Mask: "inputs.mask",
		m.Inputs.TokenTypes: "inputs.token_types", m.Inputs.Positions: "inputs.positions"}
	for _, name := range inputNames(m) {
		i := slices.IndexFunc(inputs, func(in ort.InputOutputInfo) bool { return in.Name == name })
		if i < 0 {
			return mismatch(fields[name], name, "has only the inputs %s", names(inputs))
		}
		if in := inputs[i]; in.DataType != ort.TensorElementDataTypeInt64 || len(in.Dimensions) != 2 {
			return mismatch(fields[name], name, "has it as %s instead of int64 [batch, tokens]", shape(in))
		}
	}
	for _, in := range inputs {
		if _, ok := fields[in.Name]; !ok {
			return mismatch("inputs.ids", m.Inputs.IDs, "also needs an input %q, which no field names", in.Name)
		}
	}
	i := slices.IndexFunc(outputs, func(out ort.InputOutputInfo) bool { return out.Name == m.Output })
	if i < 0 {
		return mismatch("output", m.Output, "has only the outputs %s", names(outputs))
	}
	out := outputs[i]
	rank, axes := 2, "[batch, dim]"
	if m.Pooling != model.None {
		rank, axes = 3, "[batch, tokens, dim]"
	}
	field := outputField(m, inner)
	if out.DataType != ort.TensorElementDataTypeFloat || len(out.Dimensions) != rank {
		return mismatch(field, m.Output, "has it as %s, where pooling: %s needs float32 %s", shape(out), m.Pooling,
			axes)
	}
	if dim := out.Dimensions[rank-1]; inner && dim > 0 {
		m.Dim = int(dim)
	} else if dim > 0 && dim != int64(m.Dim) {
		return mismatch("dim", fmt.Sprint(m.Dim), "gives vectors of %d values", dim)
	}
	if m.Dim == 0 {
		return mismatch(field, m.Output, "does not say how many values its rows have")
	}
	return nil
}

// outputField names the output tensor in messages.
func outputField(m *model.Model, inner bool) string {
	switch {
	case m.Pooling == TokenLevel:
		return "tokens.output"
	case inner:
		return "the inner tensor"
	}
	return "output"
}

func names(infos []ort.InputOutputInfo) string {
	all := make([]string, len(infos))
	for i, info := range infos {
		all[i] = fmt.Sprintf("%q", info.Name)
	}
	return strings.Join(all, ", ")
}

// shape formats a tensor's type as "float32 [-1, 256]"; -1 means any size.
func shape(info ort.InputOutputInfo) string {
	kind := strings.ToLower(strings.TrimPrefix(info.DataType.String(), "ONNX_TENSOR_ELEMENT_DATA_TYPE_"))
	if kind == "float" {
		kind = "float32"
	}
	return fmt.Sprintf("%s %s", kind, strings.Join(strings.Fields(fmt.Sprint([]int64(info.Dimensions))), ", "))
}
