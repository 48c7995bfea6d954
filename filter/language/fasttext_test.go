package language

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

// TestAsTheProgram: models that the fasttext program made of the program's own fixtures, plain with a hierarchical loss
// and quantised with pruned n-grams, give what that program prints.
func TestAsTheProgram(t *testing.T) {
	for _, name := range []string{"tiny.bin", "tiny.ftz"} {
		m, err := OpenFastText(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if labels := strings.Join(m.Labels(), " "); labels != "en de" && labels != "de en" {
			t.Errorf("labels %q", labels)
		}
		data, err := os.ReadFile(filepath.Join("testdata", name+".tsv"))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		if len(lines) < 30 {
			t.Fatalf("%d lines", len(lines))
		}
		for _, line := range lines {
			fields := strings.Split(line, "\t")
			got := m.Predict(fields[0], 2)
			if len(got) != (len(fields)-1)/2 {
				t.Errorf("%s: %q gives %v", name, fields[0], got)
				continue
			}
			for i, p := range got {
				want, err := strconv.ParseFloat(fields[2+2*i], 64)
				if err != nil || p.Label != fields[1+2*i] || math.Abs(float64(p.Probability)-want) > 2e-5 {
					t.Errorf("%s: %q is %v, want %q", name, fields[0], got, fields[1:])
				}
			}
		}
	}
}

// TestDamaged: a file that is cut off anywhere, that is none, or whose last weight is no finite number is refused.
func TestDamaged(t *testing.T) {
	for _, name := range []string{"tiny.bin", "tiny.ftz"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		for size := 0; size < len(data); size += 97 {
			if err := os.WriteFile(path, data[:size], 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := OpenFastText(path); !badinput.Is(err) || !strings.Contains(err.Error(), path) {
				t.Fatalf("%d of %d bytes: %v", size, len(data), err)
			}
		}
		for _, bits := range []uint32{0x7fffffff, 0xff800000, 0x7e000000} {
			binary.LittleEndian.PutUint32(data[len(data)-4:], bits)
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := OpenFastText(path); !badinput.Is(err) || !strings.Contains(err.Error(), "it has the weight ") {
				t.Errorf("%s with %v: %v", name, math.Float32frombits(bits), err)
			}
		}
	}
	if _, err := OpenFastText(filepath.Join(t.TempDir(), "none.bin")); !badinput.Is(err) {
		t.Errorf("error %v", err)
	}
}

func FuzzModel(f *testing.F) {
	for _, name := range []string{"tiny.bin", "tiny.ftz"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "Ein Satz </s>")
	}
	f.Fuzz(func(t *testing.T, data []byte, text string) {
		m, err := read(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return
		}
		if got := m.Predict(text, 3); len(got) > len(m.labels) {
			t.Errorf("%d labels of %d", len(got), len(m.labels))
		}
	})
}
