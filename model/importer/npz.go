package importer

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// array is an array of an .npz archive: NumPy's format, in C order, little-endian.
type array struct {
	shape []int
	dtype string // NumPy's name: <f4, |u1
	data  []byte
}

var (
	npyType  = regexp.MustCompile(`'descr': *'([^']+)'`)
	npyOrder = regexp.MustCompile(`'fortran_order': *(True|False)`)
	npyShape = regexp.MustCompile(`'shape': *\(([0-9, ]*)\)`)
)

// readNPZ reads all arrays of an archive.
func readNPZ(raw []byte) (map[string]array, error) {
	archive, err := zip.NewReader(bytes.NewReader(raw), int64(len(raw)))
	if err != nil {
		return nil, err
	}
	if err := checkUnpacked(archive.File, int64(len(raw))); err != nil {
		return nil, err
	}
	all := map[string]array{}
	for _, f := range archive.File {
		part, err := f.Open()
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		a, err := parseNPY(data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		all[strings.TrimSuffix(f.Name, ".npy")] = a
	}
	return all, nil
}

// parseNPY reads a .npy file.
func parseNPY(raw []byte) (array, error) {
	if len(raw) < 12 || !bytes.HasPrefix(raw, []byte("\x93NUMPY")) {
		return array{}, fmt.Errorf("it is not a .npy file")
	}
	length, begin := int(binary.LittleEndian.Uint16(raw[8:])), 10
	if raw[6] > 1 {
		length, begin = int(binary.LittleEndian.Uint32(raw[8:])), 12
	}
	if length > len(raw)-begin {
		return array{}, fmt.Errorf("its header is cut off")
	}
	header := raw[begin : begin+length]
	kind, order, shape := npyType.FindSubmatch(header), npyOrder.FindSubmatch(header), npyShape.FindSubmatch(header)
	if kind == nil || order == nil || shape == nil {
		return array{}, fmt.Errorf("its header is invalid")
	}
	a := array{dtype: string(kind[1]), data: raw[begin+length:]}
	count := 1
	for _, part := range strings.Split(string(shape[1]), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 || n > math.MaxInt32 || count > math.MaxInt32 {
			return array{}, fmt.Errorf("its shape is %s", shape[1])
		}
		a.shape = append(a.shape, n)
		count *= n
	}
	size, ok := map[string]int{"<f4": 4, "<f8": 8, "|u1": 1, "|i1": 1}[a.dtype]
	if !ok {
		return array{}, fmt.Errorf("its dtype %q is not read", a.dtype)
	}
	if len(a.data) != count*size {
		return array{}, fmt.Errorf("it has %d bytes for the shape %v", len(a.data), a.shape)
	}
	if string(order[1]) == "True" && len(a.shape) > 1 {
		if a.dtype != "<f4" || len(a.shape) != 2 {
			return array{}, fmt.Errorf("it is in Fortran's order")
		}
		a.data = inC(a.data, a.shape[0], a.shape[1])
	}
	return a, nil
}

// inC is a matrix of 4-byte numbers [rows, columns], column by column, in C order.
func inC(data []byte, rows, columns int) []byte {
	out := make([]byte, len(data))
	for r := range rows {
		for c := range columns {
			copy(out[4*(r*columns+c):][:4], data[4*(c*rows+r):])
		}
	}
	return out
}

// floats are the numbers of a float32 array.
func (a array) floats() []float32 {
	out := make([]float32, len(a.data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(a.data[4*i:]))
	}
	return out
}
