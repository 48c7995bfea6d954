package embedding

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"

	"bitextmine/internal/badinput"
)

// File is an embedding file mapped into memory. Its Matrix is valid until Close.
type File struct {
	Matrix
	Meta   Meta
	SHA256 string // its digest, for whoever knows it from a record; empty: Open reads no record
	mapped []byte
}

// Want lists the caller's requirements on an embedding file. An empty field is not checked.
type Want struct {
	Encoder, Shard string // digests
}

// Open maps an embedding file. It returns a badinput error if the file is truncated, disagrees with its .json, or was
// made by another encoder or from another shard than wanted.
func Open(path string, want Want) (*File, error) {
	meta, err := readMeta(path)
	if err != nil {
		return nil, err
	}
	if want.Encoder != "" && meta.Encoder != want.Encoder {
		return nil, badinput.Errorf("%s was made by the encoder %.12s, not by this run's %.12s: encode its shard again",
			path, meta.Encoder, want.Encoder)
	}
	if want.Shard != "" && meta.Shard != want.Shard {
		return nil, badinput.Errorf("%s holds the vectors of the shard %.12s, not of %.12s: encode the shard again",
			path, meta.Shard, want.Shard)
	}
	f, err := OpenArray(path)
	if err != nil {
		return nil, err
	}
	if f.Meta.N != meta.N || f.Meta.Dim != meta.Dim || f.Meta.DType != meta.DType {
		err := badinput.Errorf("%s is %s [%d, %d] but its .json says %s [%d, %d]: encode the shard again", path,
			f.Meta.DType, f.Meta.N, f.Meta.Dim, meta.DType, meta.N, meta.Dim)
		return nil, errors.Join(err, f.Close())
	}
	f.Meta = meta
	return f, nil
}

func readMeta(path string) (Meta, error) {
	var meta Meta
	text, err := os.ReadFile(MetaPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return meta, badinput.Errorf(
			"%s has no %s beside it, so the encoder that made it is unknown: encode the shard again",
			path, MetaPath(path))
	}
	if err != nil {
		return meta, fmt.Errorf("open embedding file: %w", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&meta); err != nil {
		return meta, badinput.Errorf("%s does not describe an embedding file (%w): encode the shard again",
			MetaPath(path), err)
	}
	return meta, nil
}

// RefuseOther refuses an embedding file whose .json would replace a file that does not describe one.
func RefuseOther(path string) error {
	meta, err := readMeta(path)
	_, absent := os.Lstat(MetaPath(path))
	if errors.Is(absent, fs.ErrNotExist) || err == nil && itemSize[meta.DType] > 0 {
		return nil
	}
	return badinput.Errorf("%s would be replaced by the description of %s, and is none: name another output, or move that file",
		MetaPath(path), path)
}

// OpenArray maps a two-dimensional .npy file of any program: float16, float32 or float64, C order, little-endian.
// float64 is rounded to float32 in memory. Of the Meta only N, Dim and DType are set.
func OpenArray(path string) (*File, error) {
	data, err := Map(path)
	if err != nil {
		return nil, err
	}
	f := &File{mapped: data}
	if err := f.parse(data); err != nil {
		return nil, errors.Join(badinput.Errorf("%s %w", path, err), f.Close())
	}
	return f, nil
}

// parse sets what OpenArray says of a whole .npy file. The error says what it found instead.
func (f *File) parse(data []byte) error {
	h, err := parseHeader(data)
	if err != nil {
		return err
	}
	return f.view(data[h.size:], h.dtype, h.n, h.dim)
}

// ParseArray is OpenArray for a file that is in memory, which must not change. The error says what it found instead.
func ParseArray(data []byte) (Matrix, error) {
	var f File
	err := f.parse(data)
	return f.Matrix, err
}

// OpenRaw maps a file of values without a header, as LASER writes them: rows [n, dim] of float16, float32 or float64.
func OpenRaw(path string, dim int, dtype DType) (*File, error) {
	if dim < 1 || dim > dimLimit || itemSize[dtype] == 0 {
		return nil, badinput.Errorf(
			"read %s as rows of %d values of type %q: dim must be from 1 to %d, and the type float16, float32 or float64",
			path, dim, dtype, dimLimit)
	}
	data, err := Map(path)
	if err != nil {
		return nil, err
	}
	f := &File{mapped: data}
	row := dim * itemSize[dtype]
	if len(data)%row != 0 {
		err := badinput.Errorf(
			"%s has %d bytes, which is not a whole number of rows of %d %s values: correct the dimension or copy the file again",
			path, len(data), dim, dtype)
		return nil, errors.Join(err, f.Close())
	}
	if err := f.view(data, dtype, len(data)/row, dim); err != nil {
		return nil, errors.Join(badinput.Errorf("%s %w", path, err), f.Close())
	}
	return f, nil
}

// OpenVectors maps a file of vectors of any program: .npy as OpenArray does, any other as OpenRaw does. If dim is 0
// where it is needed, that is a badinput error, which names the flag that gives it, and so is a file of another format.
func OpenVectors(path string, dim int, dtype DType, flag string) (*File, error) {
	if filepath.Ext(path) == ".npy" {
		return OpenArray(path)
	}
	switch kind, err := containerOf(path); {
	case err != nil:
		return nil, err
	case kind != "":
		return nil, badinput.Errorf("%s is %s", path, kind)
	case dim == 0:
		return nil, badinput.Errorf(
			"%s is not .npy, so the length of its rows is unknown: give the number of values in a row with %s",
			path, flag)
	}
	return OpenRaw(path, dim, dtype)
}

// view sets f.Matrix to the n rows of dim values in data. Values that are not aligned, and float64 values, are copied.
func (f *File) view(data []byte, dtype DType, n, dim int) error {
	size := itemSize[dtype]
	if want := n * dim * size; len(data) != want {
		return fmt.Errorf(
			"has %d bytes of values where %s [%d, %d] needs %d: it was truncated or changed; make it or copy it again",
			len(data), dtype, n, dim, want)
	}
	f.Meta = Meta{N: n, Dim: dim, DType: dtype}
	f.Matrix = Matrix{N: n, Dim: dim}
	start := unsafe.Pointer(unsafe.SliceData(data))
	inPlace := uintptr(start)%uintptr(size) == 0
	if !inPlace {
		aligned := make([]uint64, (len(data)+7)/8)
		start = unsafe.Pointer(unsafe.SliceData(aligned))
		copy(unsafe.Slice((*byte)(start), len(data)), data)
	}
	switch dtype {
	case Float16:
		f.F16 = unsafe.Slice((*uint16)(start), n*dim)
	case Float32:
		f.F32 = unsafe.Slice((*float32)(start), n*dim)
	case Float64:
		inPlace = false
		f.F32 = make([]float32, n*dim)
		for i, x := range unsafe.Slice((*float64)(start), n*dim) {
			f.F32[i] = float32(x)
			if math.IsInf(float64(f.F32[i]), 0) && !math.IsInf(x, 0) {
				return fmt.Errorf("has the value %v in row %d, which float32 cannot hold", x, i/dim)
			}
		}
	}
	if inPlace {
		f.Matrix.mapped = f.mapped
	}
	return nil
}

// Close unmaps the file. The Matrix must not be used afterwards.
func (f *File) Close() error {
	f.Matrix = Matrix{}
	if f.mapped == nil {
		return nil
	}
	err := unix.Munmap(f.mapped)
	f.mapped = nil
	return err
}

// Map maps a file for reading. An empty file cannot be mapped; its data is nil.
func Map(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open a file to map: %w", err)
	}
	defer func() { _ = f.Close() }() // it is only read
	return mapped(f)
}

func mapped(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("open a file to map: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, badinput.Errorf("%s is not a regular file, so it cannot be mapped: name another file", f.Name())
	}
	if info.Size() == 0 {
		return nil, nil
	}
	data, err := unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	// In pages of 2 MiB whoever reads a row here and there has all of the file in memory. Advice only: where there are no
	// such pages it is refused.
	_ = unix.Madvise(data, unix.MADV_NOHUGEPAGE)
	return data, nil
}
