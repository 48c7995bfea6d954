package weights

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"

	"bitextmine/internal/atomicfile"
)

// WriteFile publishes tensors as a safetensors file of F32, in their order, atomically. Names must be distinct.
func WriteFile(path string, tensors []*Tensor, metadata map[string]string) error {
	return atomicfile.Write(path, func(f *os.File) error {
		w := bufio.NewWriterSize(f, 1<<20)
		if err := write(w, tensors, metadata); err != nil {
			return err
		}
		return w.Flush()
	})
}

func write(w io.Writer, tensors []*Tensor, metadata map[string]string) error {
	header := map[string]any{}
	if len(metadata) > 0 {
		header["__metadata__"] = metadata
	}
	at := int64(0)
	for _, t := range tensors {
		if _, ok := header[t.Name]; ok {
			return fmt.Errorf("two tensors are called %q", t.Name)
		}
		end := at + 4*int64(len(t.Data))
		shape := t.Shape
		if shape == nil {
			shape = []int{}
		}
		header[t.Name] = entry{DType: "F32", Shape: shape, Offsets: [2]int64{at, end}}
		at = end
	}
	raw, err := json.Marshal(header)
	if err != nil {
		return err
	}
	for len(raw)%8 != 0 { // data starts at a multiple of 8
		raw = append(raw, ' ')
	}
	if _, err := w.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(raw))), raw...)); err != nil {
		return err
	}
	buf := make([]byte, 0, 4<<12)
	for _, t := range tensors {
		for start := 0; start < len(t.Data); start += 1 << 12 {
			buf = buf[:0]
			for _, x := range t.Data[start:min(start+1<<12, len(t.Data))] {
				buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
			}
			if _, err := w.Write(buf); err != nil {
				return err
			}
		}
	}
	return nil
}
