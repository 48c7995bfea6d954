package embedding

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// DType is the type of the values in an embedding file, named as numpy names it.
type DType string

// Embedding files hold Float16 or Float32. Arrays of other programs may hold Float64, which is rounded to float32 when
// read.
const (
	Float16 DType = "float16"
	Float32 DType = "float32"
	Float64 DType = "float64"
)

// Size is the bytes of a value; 0 of a type that is not known.
func (d DType) Size() int64 { return int64(itemSize[d]) }

// descr is numpy's code for the little-endian type.
var descr = map[DType]string{Float16: "<f2", Float32: "<f4", Float64: "<f8"}

var itemSize = map[DType]int{Float16: 2, Float32: 4, Float64: 8}

const (
	magic        = "\x93NUMPY"
	headerSize   = 128     // size of the headers written here: numpy's own for two dimensions
	headerLimit  = 1 << 16 // numpy needs 128 bytes; a longer header does not belong to a two-dimensional array
	rowLimit     = 1 << 40
	dimLimit     = 1 << 18
	headerFields = `{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }`
)

// header is the content of a .npy header.
type header struct {
	dtype  DType
	n, dim int
	size   int // bytes before the first value
}

// npyHeader returns the version 1.0 header of an array [n, dim] of numpy's type descr, byte for byte what numpy writes.
func npyHeader(descr string, n, dim int) []byte {
	b := make([]byte, 0, headerSize)
	b = append(b, magic+"\x01\x00"...)
	b = binary.LittleEndian.AppendUint16(b, headerSize-10)
	b = fmt.Appendf(b, headerFields, descr, n, dim)
	for len(b) < headerSize-1 {
		b = append(b, ' ')
	}
	return append(b, '\n')
}

var headerPattern = regexp.MustCompile(
	`^\{(?:(?:'descr': *('[^']*'|\[.*\])|'fortran_order': *(True|False)|'shape': *\(([0-9L, ]*)\)) *,? *)+\} *\n?$`)

var errHeaderEnds = errors.New("ends within its .npy header")

// parseHeader reads the header at the start of data, in numpy's format versions 1 to 3. It accepts two-dimensional
// little-endian float arrays in C order. The error says what it found instead.
func parseHeader(data []byte) (header, error) {
	switch {
	case !bytes.HasPrefix(data, []byte(magic)):
		return header{}, notNpy(data)
	case len(data) < 12:
		return header{}, errHeaderEnds
	}
	var text []byte
	start, length := 10, int(binary.LittleEndian.Uint16(data[8:]))
	switch data[6] {
	case 1:
	case 2, 3:
		start, length = 12, int(min(binary.LittleEndian.Uint32(data[8:]), headerLimit+1))
	default:
		return header{}, fmt.Errorf("is a .npy file of version %d, but only versions 1 to 3 are supported", data[6])
	}
	if length > headerLimit || start+length > len(data) {
		return header{}, errHeaderEnds
	}
	text = data[start : start+length]
	found := headerPattern.FindSubmatch(text)
	if found == nil || found[1] == nil || found[2] == nil || found[3] == nil {
		return header{}, errors.New("has a .npy header without descr, fortran_order and shape")
	}
	h := header{size: start + length}
	var err error
	if h.dtype, err = parseDescr(string(found[1])); err != nil {
		return header{}, err
	}
	if string(found[2]) == "True" {
		return header{}, errors.New("is in Fortran order; save it again with numpy.ascontiguousarray")
	}
	h.n, h.dim, err = parseShape(string(found[3]))
	return h, err
}

func parseDescr(code string) (DType, error) {
	for dtype, known := range descr {
		if code == "'"+known+"'" {
			return dtype, nil
		}
	}
	if strings.HasPrefix(code, "'>f") {
		return "", fmt.Errorf("holds big-endian values (%s); save it again with astype('<f4')", code)
	}
	return "", fmt.Errorf("holds values of type %s; save it again with astype('<f4')", code)
}

func parseShape(text string) (n, dim int, err error) {
	sizes := strings.Split(strings.TrimSuffix(strings.TrimSpace(text), ","), ",")
	if len(sizes) != 2 {
		return 0, 0, fmt.Errorf("has shape (%s) but must have two dimensions, rows and values", text)
	}
	n, errN := strconv.Atoi(strings.TrimSpace(sizes[0]))
	dim, errDim := strconv.Atoi(strings.TrimSpace(sizes[1]))
	if errors.Join(errN, errDim) != nil || n < 0 || n > rowLimit || dim < 1 || dim > dimLimit {
		return 0, 0, fmt.Errorf("has shape (%s), which is not valid", text)
	}
	return n, dim, nil
}
