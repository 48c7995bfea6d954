package laser

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"bitextmine/encode/embedding"
)

// kind is a type of numbers: bytes of one, and how it becomes a float32.
type kind struct {
	width int
	value func(b []byte) float32
}

// kinds are PyTorch's storages.
var kinds = map[string]kind{
	"FloatStorage": {4, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }},
	"DoubleStorage": {8, func(b []byte) float32 {
		return float32(math.Float64frombits(binary.LittleEndian.Uint64(b)))
	}},
	"HalfStorage": {2, func(b []byte) float32 { return embedding.Widen(binary.LittleEndian.Uint16(b)) }},
	"BFloat16Storage": {2, func(b []byte) float32 {
		return math.Float32frombits(uint32(binary.LittleEndian.Uint16(b)) << 16)
	}},
	"LongStorage":  {8, func(b []byte) float32 { return float32(int64(binary.LittleEndian.Uint64(b))) }},
	"IntStorage":   {4, func(b []byte) float32 { return float32(int32(binary.LittleEndian.Uint32(b))) }},
	"ShortStorage": {2, func(b []byte) float32 { return float32(int16(binary.LittleEndian.Uint16(b))) }},
	"CharStorage":  {1, func(b []byte) float32 { return float32(int8(b[0])) }},
	"ByteStorage":  {1, func(b []byte) float32 { return float32(b[0]) }},
	"BoolStorage":  {1, func(b []byte) float32 { return float32(b[0]) }},
}

// storage is the numbers that tensors are views of.
type storage struct {
	kind  kind
	count int
	data  []byte
}

// tensor is a view of a storage.
type tensor struct {
	from          *storage
	offset        int
	shape, stride []int
	count         int
}

// newTensor reads the arguments of PyTorch's _rebuild_tensor_v2.
func newTensor(args tuple) (*tensor, error) {
	wrong := errors.New("its pickle has a tensor that is damaged")
	if len(args) < 4 {
		return nil, wrong
	}
	from, isStorage := args[0].(*storage)
	offset, isNumber := args[1].(int64)
	shape, isShape := dimensions(args[2])
	stride, isStride := dimensions(args[3])
	if !isStorage || !isNumber || !isShape || !isStride || len(shape) != len(stride) || offset < 0 ||
		offset > int64(from.count) {
		return nil, wrong
	}
	t := &tensor{from, int(offset), shape, stride, 1}
	last := int(offset)
	for i, d := range shape {
		if d == 0 {
			t.count = 0
			return t, nil
		}
		if d > from.count/t.count || stride[i] > from.count || d > 1 && stride[i] > 0 && d-1 > from.count/stride[i] {
			return nil, wrong // a view has no more numbers than its storage
		}
		t.count *= d
		last += (d - 1) * stride[i]
	}
	if last >= from.count {
		return nil, wrong
	}
	return t, nil
}

// dimensions reads a tuple of numbers.
func dimensions(v any) ([]int, bool) {
	if o, ok := v.(*object); ok && len(o.args) == 1 { // torch.Size
		v = o.args[0]
	}
	t, ok := v.(tuple)
	all := make([]int, len(t))
	for i, d := range t {
		n, isNumber := d.(int64)
		if !isNumber || n < 0 || n > math.MaxInt32 {
			return nil, false
		}
		all[i] = int(n)
	}
	return all, ok
}

// floats are the tensor's numbers, row-major.
func (t *tensor) floats() ([]float32, error) {
	width := t.from.kind.width
	if len(t.from.data) < t.from.count*width {
		return nil, errors.New("a tensor's numbers are missing")
	}
	out := make([]float32, t.count)
	at := make([]int, len(t.shape))
	place := t.offset
	for i := range out {
		out[i] = t.from.kind.value(t.from.data[place*width:])
		if x := float64(out[i]); math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, errors.New("a tensor has a number that is not finite")
		}
		for d := len(at) - 1; d >= 0; d-- {
			at[d]++
			place += t.stride[d]
			if at[d] < t.shape[d] {
				break
			}
			place -= at[d] * t.stride[d]
			at[d] = 0
		}
	}
	return out, nil
}

// readCheckpoint reads a file of torch.save: a zip archive, or the older sequence of pickles and numbers.
func readCheckpoint(data []byte) (any, error) {
	if bytes.HasPrefix(data, []byte("PK\x03\x04")) {
		return readZip(data)
	}
	return readLegacy(data)
}

// storageID reads a persistent id: ("storage", class, key, device, number of elements).
func storageID(id tuple) (key string, s *storage, err error) {
	wrong := errors.New("its pickle has a persistent id that is no storage")
	if len(id) < 5 || id[0] != "storage" {
		return "", nil, wrong
	}
	c, isClass := id[1].(class)
	count, isNumber := id[4].(int64)
	key, isText := id[2].(string)
	if !isText {
		if n, ok := id[2].(int64); ok {
			key, isText = strconv.FormatInt(n, 10), true
		}
	}
	if !isClass || !isText || !isNumber || count < 0 || count > math.MaxInt32 || kinds[c.name].width == 0 {
		return "", nil, wrong
	}
	return key, &storage{kind: kinds[c.name], count: int(count)}, nil
}

// readZip reads the archive of PyTorch 1.6 and later.
func readZip(data []byte) (any, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, fmt.Errorf("it is no zip archive of torch.save: %w", err)
	}
	files := map[string]*zip.File{}
	root := ""
	for _, f := range archive.File {
		files[f.Name] = f
		if folder, ok := strings.CutSuffix(f.Name, "data.pkl"); ok && strings.Count(f.Name, "/") < 2 {
			root = folder
		}
	}
	read := func(name string) ([]byte, error) {
		f := files[name]
		if f == nil || f.Method != zip.Store || f.UncompressedSize64 > uint64(len(data)) {
			return nil, fmt.Errorf("its archive has no %s as torch.save writes it", name)
		}
		start, err := f.DataOffset()
		if err != nil || start < 0 || uint64(start)+f.UncompressedSize64 > uint64(len(data)) {
			return nil, fmt.Errorf("%s of its archive is damaged", name)
		}
		return data[start : start+int64(f.UncompressedSize64)], nil
	}
	program, err := read(root + "data.pkl")
	if err != nil {
		return nil, err
	}
	if order, err := read(root + "byteorder"); err == nil && string(order) != "little" {
		return nil, fmt.Errorf("its numbers are in the byte order %q", order)
	}
	storages := map[string]*storage{}
	return unpickle(bytes.NewReader(program), func(id tuple) (any, error) {
		key, s, err := storageID(id)
		if err != nil || storages[key] != nil {
			return storages[key], err
		}
		if s.data, err = read(root + "data/" + key); err != nil {
			return nil, err
		}
		if len(s.data) != s.count*s.kind.width {
			return nil, fmt.Errorf("its storage %s has %d bytes, not %d numbers", key, len(s.data), s.count)
		}
		storages[key] = s
		return s, nil
	})
}

// legacyMagic begins a file of PyTorch before 1.6: 0x1950a86a20f9469cfc6c.
var legacyMagic = []byte{0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19}

// readLegacy reads the older format: three pickles of the format, the data's, one of the storages' keys, and the
// storages' numbers in that order.
func readLegacy(data []byte) (any, error) {
	in := bytes.NewReader(data)
	if magic, err := unpickle(in, nil); err != nil || !same(magic, legacyMagic) {
		return nil, errors.Join(errors.New("it is no file of torch.save"), err)
	}
	for range 2 { // version of the format, and sizes of the machine's numbers
		if _, err := unpickle(in, nil); err != nil {
			return nil, err
		}
	}
	storages := map[string]*storage{}
	root, err := unpickle(in, func(id tuple) (any, error) {
		key, s, err := storageID(id)
		if err != nil || storages[key] != nil {
			return storages[key], err
		}
		if len(id) > 5 && id[5] != nil {
			return nil, errors.New("its storages are views of each other, as PyTorch wrote them before 0.4")
		}
		storages[key] = s
		return s, nil
	})
	if err != nil {
		return nil, err
	}
	keys, err := unpickle(in, nil)
	if err != nil {
		return nil, err
	}
	order, ok := keys.(*list)
	if !ok {
		return nil, errors.New("its list of storages is damaged")
	}
	for _, key := range order.items {
		name, _ := key.(string)
		s := storages[name]
		var count int64
		if s == nil || binary.Read(in, binary.LittleEndian, &count) != nil || count != int64(s.count) ||
			count*int64(s.kind.width) > int64(in.Len()) {
			return nil, fmt.Errorf("its storage %.40q is damaged", name)
		}
		at := len(data) - in.Len()
		s.data = data[at : at+s.count*s.kind.width]
		if _, err := in.Seek(int64(len(s.data)), io.SeekCurrent); err != nil {
			return nil, err
		}
	}
	return root, nil
}

// same reports whether a value is the bytes b.
func same(v any, b []byte) bool {
	got, ok := v.([]byte)
	return ok && bytes.Equal(got, b)
}
