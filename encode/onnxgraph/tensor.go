package onnxgraph

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"bitextmine/internal/protofield"
)

// Type is the type of a tensor's numbers, as ONNX numbers them.
type Type int

// The types that a caller may read.
const (
	Float32 Type = 1
	Uint8   Type = 2
	Int8    Type = 3
	Int64   Type = 7
	Float16 Type = 10
)

// Tensor is a constant: Data has its numbers row by row, little-endian.
type Tensor struct {
	Shape []int
	Type  Type
	Data  []byte // part of the model
}

// Field numbers of TensorProto.
const (
	tensorDims = 1
	tensorType = 2
	tensorName = 8
	tensorRaw  = 9

	tensorExternal = 13
	tensorLocation = 14
)

// Tensor reads the initializer's numbers, which must stand in raw_data, as all exporters write large ones.
func (w Initializer) Tensor() (Tensor, error) {
	all, err := protofield.Split(w.Raw)
	if err != nil {
		return Tensor{}, fmt.Errorf("tensor %s: %w", w.Name, err)
	}
	var t Tensor
	for _, f := range all {
		switch f.Number {
		case tensorDims:
			if f.Content == nil {
				t.Shape = append(t.Shape, int(f.Value))
			}
			for rest := f.Content; len(rest) > 0; {
				d, n := protowire.ConsumeVarint(rest)
				if n < 0 {
					return Tensor{}, fmt.Errorf("tensor %s: its shape: %w", w.Name, protowire.ParseError(n))
				}
				t.Shape, rest = append(t.Shape, int(d)), rest[n:]
			}
		case tensorType:
			t.Type = Type(f.Value)
		case tensorRaw:
			t.Data = f.Content
		}
	}
	return t, t.check(w.Name)
}

// check compares the shape with the numbers.
func (t Tensor) check(name string) error {
	size := t.width()
	if size == 0 || t.Data == nil {
		return fmt.Errorf("tensor %s: %w", name, ErrUnread)
	}
	n, err := t.count(name)
	if err == nil && n*size != len(t.Data) {
		err = fmt.Errorf("tensor %s has %d bytes, and its shape %v needs %d", name, len(t.Data), t.Shape, n*size)
	}
	return err
}

// width is the bytes of a number; 0: its type is not read.
func (t Tensor) width() int {
	return map[Type]int{Float32: 4, Uint8: 1, Int8: 1, Int64: 8, Float16: 2}[t.Type]
}

// count is how many numbers the shape has.
func (t Tensor) count(name string) (int, error) {
	n := 1
	for _, d := range t.Shape {
		if d < 0 || d > math.MaxInt32 || n > math.MaxInt32 {
			return 0, fmt.Errorf("tensor %s has the shape %v", name, t.Shape)
		}
		n *= d
	}
	return n, nil
}

// External lists the files, beside the model's own, that hold numbers of its tensors.
func (g *Graph) External() ([]string, error) {
	files := map[string]bool{}
	for _, w := range g.Initializers {
		if err := external(w.Raw, files); err != nil {
			return nil, fmt.Errorf("tensor %s: %w", w.Name, err)
		}
	}
	for _, n := range g.Nodes {
		if err := externalOfNode(n.Raw, files); err != nil {
			return nil, fmt.Errorf("an operator %s: %w", n.Op, err)
		}
	}
	return slices.Sorted(maps.Keys(files)), nil
}

// Weight is an initializer whose numbers are read when they are needed: of the model, or of a file beside it.
type Weight struct {
	Shape []int
	Type  Type
	Head  []byte // the tensor's fields without its numbers and where they are
	Size  int    // bytes

	in io.ReaderAt
	at int64
}

// Read reads bytes of the numbers, from the place on.
func (w Weight) Read(from, size int) ([]byte, error) {
	data := make([]byte, size)
	_, err := w.in.ReadAt(data, w.at+int64(from))
	if err != nil && !(errors.Is(err, io.EOF) && size == 0) {
		return nil, fmt.Errorf("a weight's %d bytes from %d on: %w: fetch the model again", size, w.at+int64(from), err)
	}
	return data, nil
}

// Weight finds an initializer's numbers. open gives the content of a file beside the model's own.
func (w Initializer) Weight(open func(file string) (io.ReaderAt, error)) (Weight, error) {
	at, err := w.outside()
	if err != nil {
		return Weight{}, fmt.Errorf("tensor %s: %w", w.Name, err)
	}
	t, err := w.Tensor()
	if at.file == "" {
		return Weight{t.Shape, t.Type, at.rest, len(t.Data), bytes.NewReader(t.Data), 0}, err
	}
	if !errors.Is(err, ErrUnread) {
		return Weight{}, err
	}
	n, err := t.count(w.Name)
	if err != nil {
		return Weight{}, err
	}
	size := n * t.width()
	if size == 0 { // the type's width is unknown: it is only copied
		size = at.length
	}
	if at.offset < 0 || size < 0 || at.length >= 0 && at.length != size {
		return Weight{}, fmt.Errorf("tensor %s should have %d bytes at %d of %s, and its shape %v needs %d: fetch the file again",
			w.Name, at.length, at.offset, at.file, t.Shape, size)
	}
	in, err := open(at.file)
	return Weight{t.Shape, t.Type, at.rest, size, in, int64(at.offset)}, err
}

// Inside is the initializer with its numbers in the model. open gives the content of a file beside the model's own.
func (w Initializer) Inside(open func(file string) (io.ReaderAt, error)) (Initializer, error) {
	at, err := w.outside()
	if err != nil || at.file == "" {
		return w, err
	}
	weight, err := w.Weight(open)
	if err != nil {
		return w, err
	}
	w.Raw, err = weight.inside()
	return w, err
}

// inside is a TensorProto with the numbers in it.
func (w Weight) inside() ([]byte, error) {
	numbers, err := w.Read(0, w.Size)
	return protofield.AppendBytes(w.Head, tensorRaw, numbers), err
}

// place is where a tensor's numbers are: in a file, or in the model if there is none.
type place struct {
	file           string
	offset, length int    // length -1: up to the file's end
	rest           []byte // the tensor's other fields
}

// outside reads where an initializer's numbers are.
func (w Initializer) outside() (place, error) {
	at := place{length: -1}
	all, err := protofield.Split(w.Raw)
	if err != nil {
		return at, err
	}
	for _, f := range all {
		if f.Number != tensorExternal {
			if f.Number != tensorLocation && f.Number != tensorRaw {
				at.rest = append(at.rest, f.Raw...)
			}
			continue
		}
		key, err := nameOf(f.Content, 1)
		if err != nil {
			return at, err
		}
		value, err := nameOf(f.Content, 2)
		if err != nil {
			return at, err
		}
		switch key {
		case "location":
			at.file = value
		case "offset":
			at.offset, err = strconv.Atoi(value)
		case "length":
			at.length, err = strconv.Atoi(value)
		}
		if err != nil {
			return at, fmt.Errorf("its %s is %q", key, value)
		}
	}
	return at, nil
}

// external adds the file that a TensorProto's numbers are in, if it is not the model itself.
func external(tensor []byte, files map[string]bool) error {
	at, err := Initializer{Raw: tensor}.outside()
	if at.file != "" {
		files[at.file] = true
	}
	return err
}

// externalOfNode is external for the tensors in a node's attributes and subgraphs.
func externalOfNode(node []byte, files map[string]bool) error {
	const (
		attrTensor  = 5
		attrTensors = 10
	)
	return each(node, func(number protowire.Number, attribute []byte) error {
		if number != nodeAttribute {
			return nil
		}
		return each(attribute, func(number protowire.Number, content []byte) error {
			switch number {
			case attrTensor, attrTensors:
				return external(content, files)
			case attributeGraph, attributeGraphs:
				return each(content, func(number protowire.Number, part []byte) error {
					switch number {
					case graphNode:
						return externalOfNode(part, files)
					case graphInitializer:
						return external(part, files)
					}
					return nil
				})
			}
			return nil
		})
	})
}

// each calls f with a message's fields that are messages, strings or bytes.
func each(message []byte, f func(number protowire.Number, content []byte) error) error {
	all, err := protofield.Split(message)
	if err != nil {
		return err
	}
	for _, field := range all {
		if field.Content != nil {
			if err := f(field.Number, field.Content); err != nil {
				return err
			}
		}
	}
	return nil
}

// ErrUnread is a tensor of another type, or whose numbers stand elsewhere.
var ErrUnread = errors.New("its numbers are of a type, or in a place, that is not read")

// Float32s are the numbers of a tensor of Float32.
func (t Tensor) Float32s() []float32 {
	values := make([]float32, len(t.Data)/4)
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.Data[4*i:]))
	}
	return values
}

// Uint16s are the bits of the numbers of a tensor of Float16.
func (t Tensor) Uint16s() []uint16 {
	values := make([]uint16, len(t.Data)/2)
	for i := range values {
		values[i] = binary.LittleEndian.Uint16(t.Data[2*i:])
	}
	return values
}

// Int64s copies whole numbers.
func (t Tensor) Int64s() []int64 {
	numbers := make([]int64, len(t.Data)/8)
	for i := range numbers {
		numbers[i] = int64(binary.LittleEndian.Uint64(t.Data[8*i:]))
	}
	return numbers
}

// NewFloat32 is an initializer of a float32 tensor.
func NewFloat32(name string, shape []int, values []float32) Initializer {
	data := make([]byte, 0, 4*len(values))
	for _, x := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return Initializer{Name: name, Raw: tensor(name, shape, Float32, data)}
}

// tensor is a TensorProto.
func tensor(name string, shape []int, kind Type, data []byte) []byte {
	var t []byte
	for _, d := range shape {
		t = protofield.AppendVarint(t, tensorDims, d)
	}
	t = protofield.AppendBytes(protofield.AppendVarint(t, tensorType, kind), tensorName, name)
	return protofield.AppendBytes(t, tensorRaw, data)
}
