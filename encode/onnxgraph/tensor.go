package onnxgraph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

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
	size := map[Type]int{Float32: 4, Uint8: 1, Int8: 1, Float16: 2}[t.Type]
	if size == 0 || t.Data == nil {
		return fmt.Errorf("tensor %s: %w", name, ErrUnread)
	}
	n := 1
	for _, d := range t.Shape {
		if d < 0 || d > math.MaxInt32 || n > math.MaxInt32 {
			return fmt.Errorf("tensor %s has the shape %v", name, t.Shape)
		}
		n *= d
	}
	if n*size != len(t.Data) {
		return fmt.Errorf("tensor %s has %d bytes, and its shape %v needs %d", name, len(t.Data), t.Shape, n*size)
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

// NewFloat32 is an initializer of a float32 tensor.
func NewFloat32(name string, shape []int, values []float32) Initializer {
	var b []byte
	for _, d := range shape {
		b = protowire.AppendVarint(protowire.AppendTag(b, tensorDims, protowire.VarintType), uint64(d))
	}
	b = protowire.AppendVarint(protowire.AppendTag(b, tensorType, protowire.VarintType), uint64(Float32))
	b = appendMessage(b, tensorName, []byte(name))
	data := make([]byte, 0, 4*len(values))
	for _, x := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(x))
	}
	return Initializer{Name: name, Raw: appendMessage(b, tensorRaw, data)}
}
