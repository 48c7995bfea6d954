package embedding

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// TestOpenVectorsOfOtherFormats: a file of another format is named, whether or not a dimension is given.
func TestOpenVectorsOfOtherFormats(t *testing.T) {
	t.Parallel()
	rest := strings.Repeat("\x00\x01\x02\x03", 32)
	for name, c := range map[string]struct{ head, says string }{
		"a.npz":         {"PK\x03\x04\x14\x00", "numpy.savez"},
		"a.npy.gz":      {"\x1f\x8b\x08\x08", "decompress"},
		"a.xz":          {"\xfd7zXZ\x00", "decompress"},
		"a.zst":         {"\x28\xb5\x2f\xfd", "decompress"},
		"a.parquet":     {"PAR1\x15\x04", "Parquet"},
		"a.index":       {"IxFI\x40\x00\x00\x00", "reconstruct_n"},
		"b.index":       {"IwPQ\x40\x00\x00\x00", "reconstruct_n"},
		"a.pkl":         {"\x80\x04\x95\x8a\x00\x01\x00\x00\x00\x00\x00\x8c", "pickle"},
		"b.pkl":         {"\x80\x03cnumpy.core", "pickle"},
		"a.safetensors": {"\x40\x00\x00\x00\x00\x00\x00\x00{\"emb\":", "safetensors"},
		"a.emb":         {magic + "\x01\x00", "ending .npy"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(c.head+rest), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, dim := range []int{0, 4} {
			if _, err := OpenVectors(path, dim, Float32, "--emb-dim"); err == nil || !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s, dim %d: %v", name, dim, err)
			}
		}
	}
	if _, err := OpenVectors(t.TempDir(), 4, Float32, "--emb-dim"); !badinput.Is(err) || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
	path := filepath.Join(t.TempDir(), "laser.raw")
	data, _ := binary.Append(nil, binary.LittleEndian, []float32{0.01, -0.2, 0.3, 0.04, 1.5, -0.6, 0.07, 8})
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := OpenVectors(path, 4, Float32, "--emb-dim")
	if err != nil || f.N != 2 {
		t.Fatalf("values without a header: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func TestRowsError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rows  int
		raw   DType
		lines uint64
		says  string
	}{
		{1000, Float32, 2000, "--emb-dtype float16"},
		{4000, Float16, 2000, "--emb-dtype float32"},
		{4000, Float32, 2000, "numpy.fromfile"},
		{1000, "", 2000, "that very file"},
		{1999, Float32, 2000, "that very file"},
	} {
		if err := RowsError("x.raw", c.rows, c.raw, "x.de", c.lines); !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d rows of %q, %d lines: %v", c.rows, c.raw, c.lines, err)
		}
	}
}
