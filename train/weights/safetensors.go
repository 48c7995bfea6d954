package weights

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"bitextmine/encode/embedding"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// The format: 8 bytes of header length, little-endian; a JSON object of tensors, each {dtype, shape, data_offsets}, in
// which __metadata__ maps strings to strings; then the tensors' bytes without gaps (huggingface.co/docs/safetensors).

// maxHeader is the format's own limit.
const maxHeader = 100_000_000

// elementBytes are the sizes of the dtypes that a header may name. Only F64, F32, F16 and BF16 can be read.
var elementBytes = map[string]int64{
	"BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "U16": 2, "I16": 2, "F16": 2, "BF16": 2, "U32": 4,
	"I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8,
}

type entry struct {
	Name    string   `json:"-"`
	DType   string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

// ReadFile reads a safetensors file: the metadata, and the tensors for which keep returns true (all if keep is nil) in
// the file's order. An incomplete or inconsistent file is a badinput error. So is a selected tensor that is not F64,
// F32, F16 or BF16.
func ReadFile(path string, keep func(name string) bool) (tensors []*Tensor, metadata map[string]string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	tensors, metadata, err = read(f, info.Size(), keep)
	if err != nil {
		return nil, nil, badinput.Errorf("%s cannot be read as safetensors: %w", path, err)
	}
	return tensors, metadata, nil
}

// read reads a file of size bytes.
func read(r io.ReaderAt, size int64, keep func(name string) bool) ([]*Tensor, map[string]string, error) {
	entries, metadata, err := readHeader(r, size)
	if err != nil {
		return nil, nil, err
	}
	var tensors []*Tensor
	for _, e := range entries {
		if keep != nil && !keep(e.Name) {
			continue
		}
		values, err := e.read(r, e.Offsets[0], e.Offsets[1])
		if err != nil {
			return nil, nil, err
		}
		tensors = append(tensors, &Tensor{Name: e.Name, Shape: e.Shape, Data: values})
	}
	return tensors, metadata, nil
}

// readHeader reads what a file of size bytes says of its tensors; their offsets count from the file's beginning.
func readHeader(r io.ReaderAt, size int64) ([]entry, map[string]string, error) {
	var length [8]byte
	if _, err := r.ReadAt(length[:], 0); err != nil {
		return nil, nil, errors.New("it has fewer than 8 bytes; copy the file again")
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > maxHeader || int64(n) > size-8 {
		return nil, nil, fmt.Errorf("its header should have %d bytes, but the file has %d; copy the file again", n,
			size)
	}
	header := make([]byte, n)
	if _, err := r.ReadAt(header, 8); err != nil {
		return nil, nil, err
	}
	entries, metadata, err := parseHeader(header)
	if err != nil {
		return nil, nil, fmt.Errorf("its header is damaged: %w", err)
	}
	if err := checkEntries(entries, size-8-int64(n)); err != nil {
		return nil, nil, err
	}
	for i := range entries {
		entries[i].Offsets[0] += 8 + int64(n)
		entries[i].Offsets[1] += 8 + int64(n)
	}
	return entries, metadata, nil
}

// read reads the values in some of the file's bytes.
func (e *entry) read(r io.ReaderAt, from, to int64) ([]float32, error) {
	raw := make([]byte, to-from)
	if _, err := r.ReadAt(raw, from); err != nil {
		return nil, err
	}
	values, err := decode(e.DType, raw)
	if err != nil {
		return nil, fmt.Errorf("the tensor %s %w", e.Name, err)
	}
	return values, nil
}

// parseHeader reads the JSON token by token: in a map, a second tensor of one name would replace the first.
func parseHeader(header []byte) (entries []entry, metadata map[string]string, err error) {
	d := json.NewDecoder(bytes.NewReader(header))
	d.DisallowUnknownFields()
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, errors.New("it is not a JSON object")
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, nil, err
		}
		name, _ := t.(string)
		if seen[name] {
			return nil, nil, fmt.Errorf("%q occurs twice", name)
		}
		seen[name] = true
		if name == "__metadata__" {
			if err := d.Decode(&metadata); err != nil {
				return nil, nil, fmt.Errorf("__metadata__ does not map strings to strings: %w", err)
			}
			continue
		}
		e := entry{Name: name, Offsets: [2]int64{-1, -1}}
		if err := d.Decode(&e); err != nil {
			return nil, nil, fmt.Errorf("tensor %q: %w", name, err)
		}
		entries = append(entries, e)
	}
	if _, err := d.Token(); err != nil {
		return nil, nil, errors.New("the JSON object does not end")
	}
	if rest := bytes.TrimRight(header[d.InputOffset():], " "); len(rest) > 0 {
		return nil, nil, errors.New("something follows the JSON object")
	}
	return entries, metadata, nil
}

// checkEntries sorts the tensors by offset and checks that they fill the data exactly.
func checkEntries(entries []entry, size int64) error {
	slices.SortFunc(entries, func(a, b entry) int {
		if a.Offsets[0] != b.Offsets[0] {
			return int(min(1, max(-1, a.Offsets[0]-b.Offsets[0])))
		}
		return int(min(1, max(-1, a.Offsets[1]-b.Offsets[1])))
	})
	end := int64(0)
	for _, e := range entries {
		bytes, ok := elementBytes[e.DType]
		if !ok {
			return fmt.Errorf("the tensor %s has the dtype %q, which is not known", e.Name, e.DType)
		}
		if e.Shape == nil {
			return fmt.Errorf("the tensor %s has no shape", e.Name)
		}
		for _, d := range e.Shape {
			if d < 0 || d > 0 && bytes > math.MaxInt64/int64(d) {
				return fmt.Errorf("the tensor %s has the shape %v", e.Name, e.Shape)
			}
			bytes *= int64(d)
		}
		if e.Offsets[0] != end || e.Offsets[1] < end || e.Offsets[1]-end != bytes {
			return fmt.Errorf("the tensor %s of %s %v should be at bytes %d to %d, but its header says %d to %d",
				e.Name, e.DType, e.Shape, end, end+bytes, e.Offsets[0], e.Offsets[1])
		}
		end = e.Offsets[1]
	}
	if end != size {
		return fmt.Errorf("its tensors have %d bytes but the file has %d; copy the file again", end, size)
	}
	return nil
}

func decode(dtype string, raw []byte) ([]float32, error) {
	var values []float32
	switch dtype {
	case "F32":
		values = make([]float32, len(raw)/4)
		for i := range values {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:]))
		}
	case "F16":
		values = make([]float32, len(raw)/2)
		for i := range values {
			values[i] = embedding.Widen(binary.LittleEndian.Uint16(raw[2*i:]))
		}
	case "BF16":
		values = make([]float32, len(raw)/2)
		for i := range values {
			values[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[2*i:])) << 16)
		}
	case "F64":
		values = make([]float32, len(raw)/8)
		for i := range values {
			values[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
		}
	default:
		return nil, fmt.Errorf("is %s; only F64, F32, F16 and BF16 can be read: convert it", dtype)
	}
	return values, nil
}

// decodeIntegers is decode for whole numbers.
func decodeIntegers(dtype string, raw []byte) ([]int64, error) {
	var numbers []int64
	switch dtype {
	case "I64":
		for at := 0; at < len(raw); at += 8 {
			numbers = append(numbers, int64(binary.LittleEndian.Uint64(raw[at:])))
		}
	case "I32":
		for at := 0; at < len(raw); at += 4 {
			numbers = append(numbers, int64(int32(binary.LittleEndian.Uint32(raw[at:]))))
		}
	default:
		return nil, fmt.Errorf("is %s, where whole numbers are expected (I64, I32): fetch the file again", dtype)
	}
	return numbers, nil
}

// hasPathIn reports whether a file name in a model's index is in the model's own directory.
func hasPathIn(name string) bool {
	return name != "" && !strings.ContainsAny(name, `/\`) && name != ".."
}

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
