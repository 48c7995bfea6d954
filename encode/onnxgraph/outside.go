package onnxgraph

import (
	"io"
	"slices"
	"strconv"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"bitextmine/internal/protofield"
)

// largeBytes is the size of a weight from which it is left out of a graph. What operators look at while a graph is
// loaded, such as shapes, has less.
const largeBytes = 64 << 10

// Declared is the graph with inputs of their types and shapes in place of its large weights: enough to find out what
// shapes other tensors have, without memory for the weights. open gives the content of a file beside the model's own.
func (g *Graph) Declared(open func(file string) (io.ReaderAt, error)) (*Graph, error) {
	return g.withWeights(func(w Initializer, as protofield.Field) (protofield.Field, error) {
		at, err := w.outside()
		if err != nil {
			return as, err
		}
		weight, err := w.Weight(open)
		switch {
		case at.file == "" && (err != nil || weight.Size < largeBytes):
			return as, nil
		case err != nil:
			return as, err
		case weight.Size < largeBytes:
			inside, err := weight.inside()
			return fieldOfMessage(graphInitializer, inside), err
		}
		return fieldOfMessage(graphInput, valueInfo(w.Name, weight.Type, weight.Shape)), nil
	})
}

// Outside is the graph that refers to files for its large weights in float32 and float16, and for those that are in
// files beside the model's own. where gives what the graph names a file, "" the one whose content, model, was parsed.
func (g *Graph) Outside(model []byte, where func(file string) (string, error)) (*Graph, error) {
	begin := uintptr(unsafe.Pointer(unsafe.SliceData(model)))
	return g.withWeights(func(w Initializer, as protofield.Field) (protofield.Field, error) {
		at, err := w.outside()
		if err != nil {
			return as, err
		}
		if at.file == "" {
			t, err := w.Tensor()
			if err != nil || len(t.Data) < largeBytes || t.Type != Float32 && t.Type != Float16 {
				return as, nil
			}
			at.offset, at.length = int(uintptr(unsafe.Pointer(unsafe.SliceData(t.Data)))-begin), len(t.Data)
		}
		file, err := where(at.file)
		return fieldOfMessage(graphInitializer, Outside(at.rest, file, at.offset, at.length)), err
	})
}

// Outside is a TensorProto whose numbers are in a file: head are its other fields. bytes -1: up to the file's end.
func Outside(head []byte, file string, offset, bytes int) []byte {
	entries := [][2]string{{"location", file}, {"offset", strconv.Itoa(offset)}}
	if bytes >= 0 {
		entries = append(entries, [2]string{"length", strconv.Itoa(bytes)})
	}
	for _, entry := range entries {
		head = protofield.AppendBytes(head, tensorExternal, protofield.AppendBytes(protofield.AppendBytes(nil, 1, entry[0]), 2, entry[1]))
	}
	const external = 1
	return protofield.AppendVarint(head, tensorLocation, external)
}

// withWeights is the graph with other fields in place of its weights, or the same: initializers or inputs.
func (g *Graph) withWeights(instead func(w Initializer, as protofield.Field) (protofield.Field, error)) (*Graph, error) {
	other := *g
	other.graph, other.Initializers = nil, nil
	initializer := 0
	for _, f := range g.graph {
		if f.Number == graphInitializer {
			w := g.Initializers[initializer]
			initializer++
			var err error
			if f, err = instead(w, f); err != nil {
				return nil, err
			}
			if f.Number == graphInitializer {
				other.Initializers = append(other.Initializers, Initializer{w.Name, f.Content})
			}
		}
		other.graph = append(other.graph, f)
	}
	seen := map[string]bool{}
	other.graph = slices.DeleteFunc(other.graph, func(f protofield.Field) bool {
		if f.Number != graphInput {
			return false
		}
		name, err := nameOf(f.Content, 1)
		again := err == nil && seen[name] // old graphs declare weights as inputs, too
		seen[name] = true
		return again
	})
	return &other, nil
}

// fieldOfMessage is a field of a message.
func fieldOfMessage(number protowire.Number, content []byte) protofield.Field {
	return protofield.Field{Number: number, Raw: protofield.AppendBytes(nil, number, content), Content: content}
}
