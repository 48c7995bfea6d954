// Package export writes ONNX graphs: of trained encoders, of distilled students and of imported models. Mining uses
// nothing else of a training.
package export

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// The names of the tensors of a trained encoder's graph, for its manifest.
const (
	IDs     = "ids"     // int64 [batch, tokens]
	Mask    = "mask"    // int64 [batch, tokens]: 1, or 0 after a sentence's end
	Vectors = "vectors" // float32 [batch, dim], pooled and of length 1
	// TokenTypes is an input of judges alone, int64 [batch, tokens]: 1 in the second sentence of a pair.
	TokenTypes = "token_types"
	Tokens     = "tokens" // float32 [batch, tokens, width], the last layer
)

// Opset is the version of ONNX's operators that is written: 17 is the first with LayerNormalization, and IR 8 goes with
// it.
const (
	Opset     = 17
	irVersion = 8
)

// Graph is an ONNX model being written. Names are free and unique: a node's outputs are other nodes' inputs, and nodes
// stand in the order in which they can be computed. Mistakes in it are found by ONNX Runtime, which every export is run
// with before it is published.
type Graph struct {
	// Limit is the number of bytes of weights that one file may hold. Write puts more than that into a second file.
	Limit int

	name                   string
	nodes, inputs, outputs []byte // fields of a GraphProto
	constants              []constant
	opsets                 map[string]int // versions by domain; empty: Opset
}

// constant is an initializer.
type constant struct {
	head []byte // fields of a TensorProto; without its content if data is not nil
	data any
	size int // bytes of the content
}

// fileLimit is protobuf's limit, 2 GiB, less the size of the nodes of an encoder.
const fileLimit = math.MaxInt32 - 1<<24

// NewGraph starts an empty graph.
func NewGraph(name string) *Graph { return &Graph{name: name, Limit: fileLimit} }

// ElementType is the ONNX number of a type of tensor elements.
type ElementType int

// The element types of inputs, outputs and initializers.
const (
	Float32 ElementType = 1
	Uint8   ElementType = 2
	Int8    ElementType = 3
	Int64   ElementType = 7
	Float16 ElementType = 10
)

// Half is float16 data, as bits.
type Half []uint16

// Stream gives the values of a float32 tensor in order, in blocks of any size: of weights that are read when the graph
// is written, so that they are never in memory all at once. It is called once, and its error ends the writing.
type Stream func(yield func(block []float32) error) error

// Bytes are the content of a tensor, which is made when the graph is written.
type Bytes struct {
	Type  ElementType
	Write func(w io.Writer) error
}

// Attr is an attribute of a node: Value is an int, a float32, a string or an []int64.
type Attr struct {
	Name  string
	Value any
}

// message appends a field that is itself a message. Field numbers come from onnx.proto.
func message(b []byte, field protowire.Number, m []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), m)
}

func text(b []byte, field protowire.Number, s string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, field, protowire.BytesType), s)
}

func number(b []byte, field protowire.Number, n int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(n))
}

// Input declares an input of the graph; a dimension is an int, or a string that names one which is free.
func (g *Graph) Input(name string, t ElementType, dims ...any) {
	g.inputs = message(g.inputs, 11, valueInfo(name, t, dims))
}

// Output declares a tensor to be an output.
func (g *Graph) Output(name string, t ElementType, dims ...any) {
	g.outputs = message(g.outputs, 12, valueInfo(name, t, dims))
}

func valueInfo(name string, t ElementType, dims []any) []byte {
	var shape []byte
	for _, d := range dims {
		switch d := d.(type) {
		case int:
			shape = message(shape, 1, number(nil, 1, d))
		case string:
			shape = message(shape, 1, text(nil, 2, d))
		default:
			panic(fmt.Sprintf("export: the dimension %v of %s is neither a number nor a name", d, name))
		}
	}
	tensor := message(number(nil, 1, int(t)), 2, shape)
	return message(text(nil, 1, name), 2, message(nil, 1, tensor))
}

// Initializer adds a constant tensor; data is []float32, []int64, []int8, []uint8, Half, Stream or Bytes (of int8),
// row-major, and must not change until the graph is written. No dimension makes a scalar.
func (g *Graph) Initializer(name string, shape []int, data any) {
	size := 1
	var m []byte
	for _, d := range shape {
		size *= d
		m = number(m, 1, d)
	}
	if stream, ok := data.(Stream); ok {
		g.constants = append(g.constants, constant{text(number(m, 2, int(Float32)), 8, name), stream, 4 * size})
		return
	}
	t, n, width := elements(name, data)
	if _, ok := data.(Bytes); ok {
		n = size
	}
	if size != n {
		panic(fmt.Sprintf("export: the initializer %s has %d values in the shape %v", name, n, shape))
	}
	g.constants = append(g.constants, constant{text(number(m, 2, int(t)), 8, name), data, n * width})
}

// elements are the type and the number of data's values, and the bytes of one.
func elements(name string, data any) (t ElementType, n, width int) {
	switch data := data.(type) {
	case []float32:
		return Float32, len(data), 4
	case []int64:
		return Int64, len(data), 8
	case Half:
		return Float16, len(data), 2
	case []int8:
		return Int8, len(data), 1
	case []uint8:
		return Uint8, len(data), 1
	case Bytes:
		return data.Type, 0, 1
	}
	panic(fmt.Sprintf("export: the initializer %s has data of type %T", name, data))
}

// proto is the whole TensorProto.
func (c constant) proto() ([]byte, error) {
	if c.data == nil {
		return c.head, nil
	}
	content, err := c.content()
	return message(c.head, 9, content), err
}

func floats(raw []byte, values []float32) []byte {
	for _, x := range values {
		raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(x))
	}
	return raw
}

// content is a constant's data as little-endian bytes.
func (c constant) content() ([]byte, error) {
	if data, ok := c.data.([]uint8); ok {
		return data, nil
	}
	if data, ok := c.data.([]int8); ok {
		return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(data))), len(data)), nil
	}
	raw := make([]byte, 0, c.size)
	switch data := c.data.(type) {
	case []float32:
		raw = floats(raw, data)
	case Stream:
		err := data(func(block []float32) error {
			raw = floats(raw, block)
			return nil
		})
		if err != nil {
			return nil, err
		}
		return raw, c.whole(len(raw))
	case Bytes:
		var b bytes.Buffer
		err := data.Write(&b)
		if err != nil {
			return nil, err
		}
		return b.Bytes(), c.whole(b.Len())
	case []int64:
		for _, x := range data {
			raw = binary.LittleEndian.AppendUint64(raw, uint64(x))
		}
	case Half:
		for _, x := range data {
			raw = binary.LittleEndian.AppendUint16(raw, x)
		}
	}
	return raw, nil
}

// whole is the error of a stream that gave another number of bytes than its tensor has.
func (c constant) whole(size int) error {
	if size == c.size {
		return nil
	}
	return fmt.Errorf("export: a stream of %d bytes for a tensor of %d", size, c.size)
}

// write writes a constant's data.
func (c constant) write(w io.Writer) error {
	if data, ok := c.data.(Bytes); ok {
		counted := counter{Writer: w}
		if err := data.Write(&counted); err != nil {
			return err
		}
		return c.whole(counted.n)
	}
	stream, ok := c.data.(Stream)
	if !ok {
		content, err := c.content()
		if err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	}
	size := 0
	var raw []byte
	err := stream(func(block []float32) error {
		raw = floats(raw[:0], block)
		size += len(raw)
		_, err := w.Write(raw)
		return err
	})
	if err != nil {
		return err
	}
	return c.whole(size)
}

// counter counts the bytes that are written.
type counter struct {
	io.Writer
	n int
}

func (c *counter) Write(p []byte) (int, error) {
	c.n += len(p)
	return c.Writer.Write(p)
}

// Node adds an operator, which has its domain and a colon before its name if it is not one of ONNX's own.
func (g *Graph) Node(op string, inputs, outputs []string, attrs ...Attr) {
	var m []byte
	domain, name, ok := strings.Cut(op, ":")
	if !ok {
		domain, name = "", op
	}
	for _, name := range inputs {
		m = text(m, 1, name)
	}
	for _, name := range outputs {
		m = text(m, 2, name)
	}
	m = text(m, 4, name)
	for _, a := range attrs {
		m = message(m, 5, attribute(a))
	}
	if domain != "" {
		m = text(m, 7, domain)
	}
	g.nodes = message(g.nodes, 1, m)
}

func attribute(a Attr) []byte {
	m := text(nil, 1, a.Name)
	switch v := a.Value.(type) {
	case float32:
		m = protowire.AppendFixed32(protowire.AppendTag(m, 2, protowire.Fixed32Type), math.Float32bits(v))
		return number(m, 20, 1)
	case int:
		return number(number(m, 3, v), 20, 2)
	case string:
		return number(text(m, 4, v), 20, 3)
	case []int64:
		for _, x := range v {
			m = number(m, 8, int(x))
		}
		return number(m, 20, 7)
	}
	panic(fmt.Sprintf("export: the attribute %s has a value of type %T", a.Name, a.Value))
}

// Opset sets the version of an operator set, by its domain ("": ONNX's own, required if any is set). Without it, the
// graph has version Opset of ONNX's own.
func (g *Graph) Opset(domain string, version int) {
	if g.opsets == nil {
		g.opsets = map[string]int{}
	}
	g.opsets[domain] = version
}

// RawNode adds a node, RawInitializer a constant tensor, as another model has it: a NodeProto and a TensorProto.
func (g *Graph) RawNode(node []byte) { g.nodes = message(g.nodes, 1, node) }

// RawInitializer is for RawNode.
func (g *Graph) RawInitializer(tensor []byte) {
	g.constants = append(g.constants, constant{head: tensor, size: len(tensor)})
}

// RawTensor is RawInitializer for the tensor's fields but its content, which has so many bytes.
func (g *Graph) RawTensor(fields []byte, size int, content Bytes) {
	g.constants = append(g.constants, constant{fields, content, size})
}

// size is the number of bytes of weights.
func (g *Graph) size() int {
	size := 0
	for _, c := range g.constants {
		size += c.size
	}
	return size
}
