package export

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"

	"bitextmine/internal/atomicfile"
)

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
				initializers = message(initializers, 5, c.proto())
				continue
			}
			fill := (page - at%page) % page
			if _, err := w.Write(make([]byte, fill)); err != nil {
				return err
			}
			if _, err := w.Write(c.content()); err != nil {
				return err
			}
			initializers = message(initializers, 5, c.at(second, at+fill))
			at += fill + c.size
		}
		return w.Flush()
	})
	if err != nil {
		return nil, err
	}
	return []string{second}, atomicfile.WriteBytes(filepath.Join(dir, name), g.model(initializers, nil))
}

// at is the TensorProto of a constant whose content is in another file, from offset on.
func (c constant) at(file string, offset int) []byte {
	const externalData, dataLocation, external = 13, 14, 1
	m := append([]byte(nil), c.head...)
	for _, entry := range [][2]string{{"location", file}, {"offset", strconv.Itoa(offset)},
		{"length", strconv.Itoa(c.size)}} {
		m = message(m, externalData, text(text(nil, 1, entry[0]), 2, entry[1]))
	}
	return number(m, dataLocation, external)
}
