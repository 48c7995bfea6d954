package embedding

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
)

// containers are files that other programs keep vectors in, by their first bytes.
var containers = []struct{ head, kind string }{
	{magic, "a .npy file of another name: give it the ending .npy"},
	{"PK\x03\x04", "a ZIP archive, as numpy.savez and torch.save write it: load it and save the array in it with numpy.save"},
	{"\x1f\x8b\x08", "compressed with gzip: decompress it"},
	{"\xfd7zXZ\x00", "compressed with xz: decompress it"},
	{"\x28\xb5\x2f\xfd", "compressed with zstd: decompress it"},
	{"PAR1", "a Parquet file: save the column of vectors with numpy.save, as an array [rows, values]"},
	{"ARROW1\x00\x00", "an Arrow file: save the column of vectors with numpy.save, as an array [rows, values]"},
	{"\x89HDF\r\n\x1a\n", "an HDF5 file: save the array in it with numpy.save"},
	{"\x80\x02cnumpy", pickled}, {"\x80\x03cnumpy", pickled}, {"\x80\x02ctorch", pickled}, {"\x80\x03ctorch", pickled},
}

const (
	pickled     = "a pickle: load it in Python and save the array with numpy.save"
	faissIndex  = "an index of FAISS: save its vectors with numpy.save(FILE, index.reconstruct_n(0, index.ntotal))"
	safetensors = "a safetensors file: load it and save the tensor of vectors with numpy.save"

	headBytes = 16
)

// faissKinds are the first four bytes of FAISS's indexes (faiss/impl/index_write.cpp).
var faissKinds = strings.Fields("IxFI IxF2 IxFl IxPq IxPT IxMp IxM2 IxSQ IxRF IwFl IwFd IwPQ IwQR IwSq IwPf IHNf IHNp IHNs IHN2 IHc2")

// container says what a file is by its first bytes, and what to do with it; empty if these may be values.
func container(head []byte) string {
	for _, known := range containers {
		if bytes.HasPrefix(head, []byte(known.head)) {
			return known.kind
		}
	}
	if len(head) < headBytes {
		return ""
	}
	length := binary.LittleEndian.Uint64(head)
	switch frame := binary.LittleEndian.Uint64(head[3:]); {
	case slices.Contains(faissKinds, string(head[:4])):
		return faissIndex
	case head[0] == 0x80 && (head[1] == 4 || head[1] == 5) && head[2] == 0x95 && frame < 1<<40:
		return pickled
	case length < 1<<32 && string(head[8:10]) == `{"`:
		return safetensors
	}
	return ""
}

// containerOf is container for a file. What is no regular file is none; mapping it says so.
func containerOf(path string) (string, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return "", nil
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("open a file of vectors: %w", err)
	}
	defer func() { _ = f.Close() }() // it is only read
	head := make([]byte, headBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return container(head[:n]), nil
}

// notNpy says of what does not start like a .npy file what to do.
func notNpy(head []byte) error {
	if kind := container(head); kind != "" {
		return fmt.Errorf("does not start like a .npy file: it is %s", kind)
	}
	return errors.New("does not start like a .npy file: if it has values without a header, as LASER writes them, give it another ending, and --emb-dim")
}

// RowsError is the error of vectors that are not as many as the lines of a text. raw is the type as which the values of
// a file without a header were read; empty: it has a header.
func RowsError(path string, rows int, raw DType, text string, lines uint64) error {
	advice := "make the vectors of that very file, a row for each line"
	for _, dtype := range []DType{Float16, Float32, Float64} {
		if raw == "" || dtype == raw || uint64(rows)*uint64(raw.Size()) != lines*uint64(dtype.Size()) {
			continue
		}
		advice = fmt.Sprintf("if its values are %s, of which it has as many rows as lines, say so with --emb-dtype %s", dtype, dtype)
		if dtype == Float64 {
			advice = fmt.Sprintf("if its values are float64, of which it has as many rows as lines, save them with numpy.save(FILE, numpy.fromfile(%q, '<f8').reshape(%d, -1).astype('<f4'))",
				path, lines)
		}
	}
	return badinput.Errorf("%s has %d rows but %s has %d lines: %s", path, rows, text, lines, advice)
}
