package export

import (
	"bufio"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"bitextmine/encode/onnxgraph"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// Extend appends this graph's nodes, constants and outputs to another model. Their names must be new in it. (Protobuf
// merges parts of a message that occur twice: protobuf.dev/programming-guides/encoding.)
func (g *Graph) Extend(model []byte) []byte {
	return message(slices.Clone(model), 7, append(Fields(g), g.outputs...))
}

// Model is the finished ONNX file. metadata are key-value pairs that ONNX Runtime keeps and ignores.
func (g *Graph) Model(metadata ...[2]string) ([]byte, error) {
	if size := g.size(); size > g.Limit {
		return nil, badinput.Errorf("the encoder %s has %d bytes of weights, more than one ONNX file can hold (2 GiB): make a smaller one", g.name, size)
	}
	initializers := make([]byte, 0, g.size()+100*len(g.constants))
	for _, c := range g.constants {
		proto, err := c.proto()
		if err != nil {
			return nil, err
		}
		initializers = message(initializers, 5, proto)
	}
	return g.model(initializers, metadata), nil
}

// model is the file with the initializers, fields of a GraphProto.
func (g *Graph) model(initializers []byte, metadata [][2]string) []byte {
	graph := append([]byte(nil), g.nodes...)
	graph = text(graph, 2, g.name)
	graph = append(graph, initializers...)
	graph = append(append(graph, g.inputs...), g.outputs...)
	m := text(number(nil, 1, irVersion), 2, "mine")
	m = message(m, 7, graph)
	if g.opsets == nil {
		m = message(m, 8, number(nil, 2, Opset))
	}
	for _, domain := range slices.Sorted(maps.Keys(g.opsets)) {
		m = message(m, 8, number(text(nil, 1, domain), 2, g.opsets[domain]))
	}
	for _, kv := range metadata {
		m = message(m, 14, text(text(nil, 1, kv[0]), 2, kv[1]))
	}
	return m
}

// Fields are the nodes and the constants of a graph as fields of a GraphProto. None of them may be a Stream.
func Fields(g *Graph) []byte {
	fields := slices.Clone(g.nodes)
	for _, c := range g.constants {
		proto, err := c.proto()
		if err != nil {
			panic(err)
		}
		fields = message(fields, 5, proto)
	}
	return fields
}

const (
	// minExternal is the number of bytes from which a tensor is worth a place in the second file. Shapes and scalars
	// stay in the graph, where ONNX Runtime reads them before it loads weights.
	minExternal = 1024
	// page is the alignment of tensors in the file, with which ONNX Runtime can map them.
	page = 4096
)

// Write writes the graph into a directory: as one file or, if its weights are above Limit, as the graph and a second
// file, NAME.data, which ONNX Runtime finds beside it. It returns the names of files other than name.
func (g *Graph) Write(dir, name string) (external []string, err error) {
	if g.size() <= g.Limit {
		model, err := g.Model()
		if err != nil {
			return nil, err
		}
		return nil, atomicfile.WriteBytes(filepath.Join(dir, name), model)
	}
	second := name + ".data"
	var initializers []byte
	err = atomicfile.Write(filepath.Join(dir, second), func(f *os.File) error {
		w := bufio.NewWriterSize(f, 1<<20)
		at := 0
		for _, c := range g.constants {
			if c.size < minExternal || c.data == nil {
				proto, err := c.proto()
				if err != nil {
					return err
				}
				initializers = message(initializers, 5, proto)
				continue
			}
			fill := (page - at%page) % page
			if _, err := w.Write(make([]byte, fill)); err != nil {
				return err
			}
			if err := c.write(w); err != nil {
				return err
			}
			initializers = message(initializers, 5, onnxgraph.Outside(slices.Clone(c.head), second, at+fill, c.size))
			at += fill + c.size
		}
		return w.Flush()
	})
	if err != nil {
		return nil, err
	}
	return []string{second}, atomicfile.WriteBytes(filepath.Join(dir, name), g.model(initializers, nil))
}

// WriteWithin writes one file: the graph's nodes and constants after the fields of a graph (what nodes and constants
// do not say), and those of a model. Constants begin at multiples of 64 bytes, so that they can be used where they
// are when the file is mapped. It returns the file's size.
func (g *Graph) WriteWithin(file string, model, graph []byte) (size int, err error) {
	const graphField, lengthBytes = 7, 5
	begin := len(model) + protowire.SizeTag(graphField) + lengthBytes
	size = begin + len(graph) + len(g.nodes)
	heads := make([][]byte, len(g.constants))
	for i, c := range g.constants {
		if heads[i], err = c.alignedAt(size); err != nil {
			return 0, err
		}
		if size += len(heads[i]); c.isLarge() {
			size += c.size
		}
	}
	if size > math.MaxInt32 {
		return 0, badinput.Errorf("%s would have %d bytes, more than one ONNX file can hold (2 GiB): take a smaller model", file, size)
	}
	return size, atomicfile.Write(file, func(f *os.File) error {
		w := bufio.NewWriterSize(f, 1<<20)
		_, _ = w.Write(protowire.AppendTag(model, graphField, protowire.BytesType)) // Flush gives the error
		length := size - begin                                                      // written as a varint of fixed width
		for range lengthBytes - 1 {
			_ = w.WriteByte(byte(length) | 0x80)
			length >>= 7
		}
		_ = w.WriteByte(byte(length))
		_, _ = w.Write(graph)
		_, _ = w.Write(g.nodes)
		for i, c := range g.constants {
			_, _ = w.Write(heads[i])
			if c.isLarge() {
				if err := c.write(w); err != nil {
					return err
				}
			}
		}
		return w.Flush()
	})
}

func (c constant) isLarge() bool { return c.data != nil && c.size >= minExternal }

// alignedAt is the field of a constant at a place of the file: all of it, or if it is large what stands before its
// content, with an empty description of such a length that the content begins at a multiple of 64.
func (c constant) alignedAt(at int) ([]byte, error) {
	const docString = 12
	if !c.isLarge() {
		proto, err := c.proto()
		return message(nil, 5, proto), err
	}
	for fill := 0; ; fill++ {
		head := slices.Clone(c.head)
		if fill > 0 {
			head = text(head, docString, strings.Repeat(" ", fill-1))
		}
		head = protowire.AppendVarint(protowire.AppendTag(head, 9, protowire.BytesType), uint64(c.size))
		field := protowire.AppendVarint(protowire.AppendTag(nil, 5, protowire.BytesType), uint64(len(head)+c.size))
		if field = append(field, head...); (at+len(field))%64 == 0 {
			return field, nil
		}
	}
}
