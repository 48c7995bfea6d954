package embedding

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

var testMeta = Meta{Encoder: strings.Repeat("e", 64), Shard: strings.Repeat("5", 64), Dim: 3, DType: Float16}

// write makes an embedding file of the rows and returns its path.
func write(t testing.TB, meta Meta, rows ...float32) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shard.npy")
	meta, err := Write(path, meta, func(w *Writer) error { return w.Append(rows) })
	if err != nil {
		t.Fatal(err)
	}
	if meta.N != len(rows)/meta.Dim {
		t.Fatalf("wrote %d rows instead of %d", meta.N, len(rows)/meta.Dim)
	}
	return path
}

func TestWriteThenOpen(t *testing.T) {
	rows := []float32{1, 0.5, -0.25, 0, 1.0 / 1024, -1}
	for _, dtype := range []DType{Float16, Float32} {
		for _, n := range []int{0, 1, 2} {
			t.Run(fmt.Sprintf("%s %d rows", dtype, n), func(t *testing.T) {
				meta := testMeta
				meta.DType = dtype
				f, err := Open(write(t, meta, rows[:n*3]...), Want{Encoder: meta.Encoder, Shard: meta.Shard})
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if f.N != n || f.Dim != 3 || f.Meta.N != n || (f.F16 != nil) != (dtype == Float16) {
					t.Errorf("got [%d, %d], meta %+v", f.N, f.Dim, f.Meta)
				}
				got := make([]float32, n*3)
				f.Float32(got, 0, n)
				if !slices.Equal(got, rows[:n*3]) {
					t.Errorf("got %v, want %v", got, rows[:n*3])
				}
				if n == 2 {
					f.Float32(got[:3], 1, 2)
					if !slices.Equal(got[:3], rows[3:]) {
						t.Errorf("row 1 is %v, want %v", got[:3], rows[3:])
					}
				}
			})
		}
	}
}

// numpy 2 writes these headers for the same arrays.
func TestHeaderIsNumpys(t *testing.T) {
	for _, c := range []struct {
		dtype  DType
		n, dim int
		text   string
	}{
		{Float16, 3, 2, "{'descr': '<f2', 'fortran_order': False, 'shape': (3, 2), }"},
		{Float32, 0, 1024, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 1024), }"},
	} {
		want := "\x93NUMPY\x01\x00v\x00" + c.text + strings.Repeat(" ", 117-len(c.text)) + "\n"
		if got := string(npyHeader(descr[c.dtype], c.n, c.dim)); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	if got := len(npyHeader(descr[Float32], rowLimit, dimLimit)); got != headerSize {
		t.Errorf("the header of the largest array has %d bytes", got)
	}
}

func TestOpenRefuses(t *testing.T) {
	rows := []float32{1, 0, 0, 0, 1, 0}
	change := func(f func(npy []byte) []byte) func(string) error {
		return func(path string) error {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			return os.WriteFile(path, f(data), 0o644)
		}
	}
	for _, c := range []struct {
		name  string
		spoil func(path string) error
		want  Want
		says  string
	}{
		{"truncated", change(func(b []byte) []byte { return b[:len(b)-1] }), Want{}, "has 11 bytes of values where float16 [2, 3] needs 12"},
		{"too long", change(func(b []byte) []byte { return append(b, 0) }), Want{}, "has 13 bytes"},
		{"cut in the header", change(func(b []byte) []byte { return b[:50] }), Want{}, "ends within its .npy header"},
		{"emptied", change(func(b []byte) []byte { return nil }), Want{}, "does not start like a .npy file"},
		{"another encoder", nil, Want{Encoder: strings.Repeat("f", 64)}, "made by the encoder eeeeeeeeeeee, not by this run's ffffffffffff"},
		{"another shard", nil, Want{Shard: strings.Repeat("6", 64)}, "the shard 555555555555, not of 666666666666"},
		{"no json", func(path string) error { return os.Remove(MetaPath(path)) }, Want{}, "has no "},
		{"bad json", func(path string) error { return os.WriteFile(MetaPath(path), []byte(`{"dim": "x"}`), 0o644) }, Want{}, "does not describe"},
		{"json of another file", func(path string) error {
			return os.WriteFile(MetaPath(path), []byte(`{"encoder":"","shard":"","n":9,"dim":3,"dtype":"float16"}`), 0o644)
		}, Want{}, "is float16 [2, 3] but its .json says float16 [9, 3]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, testMeta, rows...)
			if c.spoil != nil {
				if err := c.spoil(path); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Open(path, c.want)
			if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "shard.") {
				t.Errorf("got %v, want a badinput error with %q", err, c.says)
			}
		})
	}
}

func TestWriteRefusesAndLeavesNothing(t *testing.T) {
	for _, c := range []struct {
		name  string
		dtype DType
		rows  []float32
		says  string
	}{
		{"NaN", Float32, []float32{1, 0, 0, 0, float32(math.NaN()), 0}, "row 1 has a value that is not finite"},
		{"infinite", Float32, []float32{float32(math.Inf(-1)), 0, 0}, "row 0 has"},
		{"too large for float16", Float16, []float32{0, 0, 65520}, "row 0 has a value that is not finite as float16"},
		{"half a row", Float16, []float32{0, 0}, "append 2 values to rows of 3"},
		{"float64", Float64, nil, `dtype is "float64"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			meta := testMeta
			meta.DType = c.dtype
			_, err := Write(filepath.Join(dir, "x.npy"), meta, func(w *Writer) error { return w.Append(c.rows) })
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want %q", err, c.says)
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("left %v", left)
			}
		})
	}
}

// The older file stays whole, with its .json, when its rows cannot be replaced.
func TestFailedRewriteLeavesTheOlderFile(t *testing.T) {
	path := write(t, testMeta, 1, 0, 0)
	_, err := Write(path, testMeta, func(*Writer) error { return errors.New("no further rows") })
	if err == nil {
		t.Fatal("the rows were replaced")
	}
	f, err := Open(path, Want{Encoder: testMeta.Encoder})
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// npy builds a version 1.0 file with any header text and values.
func npy(text string, values any) []byte {
	b := append([]byte(magic+"\x01\x00"), 0, 0)
	binary.LittleEndian.PutUint16(b[8:], uint16(len(text)))
	b = append(b, text...)
	b, err := binary.Append(b, binary.LittleEndian, values)
	if err != nil {
		panic(err)
	}
	return b
}

func TestOpenArray(t *testing.T) {
	const two = "'fortran_order': False, 'shape': (1, 2), }"
	cases := []struct {
		name string
		data []byte
		says string // empty: opens as {1.5, -2}
	}{
		{"float64", npy("{'descr': '<f8', "+two, []float64{1.5, -2}), ""},
		{"float32, no padding", npy("{'descr': '<f4', "+two, []float32{1.5, -2}), ""},
		{"float16, odd offset", npy("{'descr': '<f2', "+two+" ", []uint16{0x3e00, 0xc000}), ""},
		{"keys in another order", npy("{'shape': (1, 2), 'descr': '<f4', 'fortran_order': False}\n", []float32{1.5, -2}), ""},
		{"version 2", append([]byte(magic+"\x02\x00\x3b\x00\x00\x00"), npy("{'descr': '<f4', "+two, []float32{1.5, -2})[10:]...), ""},
		{"version 9", append([]byte(magic+"\x09\x00\x3b\x00\x00\x00"), npy("", []float32{1.5, -2})[10:]...), "version 9"},
		{"big-endian", npy("{'descr': '>f4', "+two, []float32{1.5, -2}), "big-endian"},
		{"Fortran order", npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 2), }", []float32{1.5, -2}), "Fortran order"},
		{"integers", npy("{'descr': '<i4', "+two, []int32{1, 2}), "values of type '<i4'"},
		{"records", npy("{'descr': [('a', '<f4')], "+two, []float32{1.5, -2}), "values of type [('a', '<f4')]"},
		{"one dimension", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", []float32{1.5, -2}), "two dimensions"},
		{"no values", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (5, 0), }", []float32{}), "is not valid"},
		{"absurd", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999, 2), }", []float32{}), "is not valid"},
		{"beyond float32", npy("{'descr': '<f8', "+two, []float64{1e300, -2}), "row 0, which float32 cannot hold"},
		{"not an array", []byte("PK\x03\x04 a zip archive"), "a ZIP archive, as numpy.savez"},
		{"cut short", []byte(magic + "\x01"), "ends within its .npy header"},
		{"values alone", make([]byte, 64), "give it another ending, and --emb-dim"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "user.npy")
			if err := os.WriteFile(path, c.data, 0o644); err != nil {
				t.Fatal(err)
			}
			f, err := OpenArray(path)
			if c.says != "" {
				if err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), path) {
					t.Errorf("got %v, want a badinput error with %q", err, c.says)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			got := make([]float32, 2)
			f.Float32(got, 0, 1)
			if !slices.Equal(got, []float32{1.5, -2}) {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestOpenRaw(t *testing.T) {
	path := filepath.Join(t.TempDir(), "laser.bin")
	data, _ := binary.Append(nil, binary.LittleEndian, []float32{1, 2, 3, 4, 5, 6})
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := OpenRaw(path, 3, Float32)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if f.N != 2 || f.Dim != 3 || !slices.Equal(f.F32, []float32{1, 2, 3, 4, 5, 6}) {
		t.Errorf("got [%d, %d] %v", f.N, f.Dim, f.F32)
	}
	if _, err := OpenRaw(path, 4, Float32); err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), "not a whole number of rows") {
		t.Errorf("24 bytes as rows of 4: %v", err)
	}
	if _, err := OpenRaw(path, 0, Float32); err == nil || !badinput.Is(err) {
		t.Errorf("rows of 0: %v", err)
	}
}

func TestDotFloat16RowsStayUnit(t *testing.T) {
	row := make([]float32, 256)
	for i := range row {
		row[i] = float32(math.Sin(float64(i)))
	}
	norm := float32(math.Sqrt(float64(Dot(row, row))))
	for i := range row {
		row[i] = Widen(narrow(row[i] / norm))
	}
	if got := Dot(row, row); math.Abs(float64(got)-1) > 1e-3 {
		t.Errorf("a unit row stored as float16 has squared norm %v", got)
	}
}

func FuzzParseHeader(f *testing.F) {
	f.Add(npyHeader(descr[Float16], 3, 2))
	f.Add(npyHeader(descr[Float32], rowLimit, dimLimit))
	f.Add(npy("{'descr': '<f8', 'fortran_order': True, 'shape': (1, 2), }", []float64{1, 2}))
	f.Add([]byte(magic + "\x02\x00\xff\xff\xff\xff{'descr'"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := parseHeader(bytes.Clone(data))
		if err != nil {
			return
		}
		if h.n < 0 || h.dim < 1 || h.size > len(data) || itemSize[h.dtype] == 0 || h.n*h.dim*8/8/h.dim != h.n {
			t.Errorf("accepted %+v of %d bytes", h, len(data))
		}
	})
}

// TestRelease: rows that were released are there again when they are read.
func TestRelease(t *testing.T) {
	f, err := Open(write(t, testMeta, 1, 0, 0, 0, 1, 0), Want{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, m := range []Matrix{f.Matrix, FromFloat32([]float32{1, 0, 0, 0, 1, 0}, 3)} {
		if err := m.Release(); err != nil {
			t.Fatal(err)
		}
		got := make([]float32, 6)
		if m.Float32(got, 0, 2); !slices.Equal(got, []float32{1, 0, 0, 0, 1, 0}) {
			t.Errorf("released rows are %v", got)
		}
	}
}
