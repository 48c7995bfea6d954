package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/encode/embedding"
)

// TestEncode: a row for every line, empty ones too, the same in NumPy's format and raw, of several files in the order
// of the arguments, one of which comes twice.
func TestEncode(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	first, second := file("b.txt", "Das Museum ist montags geschlossen.\n\n  Der Zug kommt.  \n"), file("a.txt",
		"Der Zug kommt.\n")
	npy, raw := filepath.Join(dir, "x.npy"), filepath.Join(dir, "x.f32")
	for _, args := range [][]string{{"encode", "--lang", "de", "--out", npy, first, second, first},
		{"encode", "--lang", "de", "--raw", "--out", raw, first, second, first}} {
		if code := execute(t.Context(), args); code != 0 {
			t.Fatalf("mine %s: exit code %d", strings.Join(args, " "), code)
		}
	}
	f, err := embedding.OpenArray(npy)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	vectors := make([]float32, f.N*f.Dim)
	f.Float32(vectors, 0, f.N)
	if f.N != 7 || !slices.Equal(vectors[2*f.Dim:3*f.Dim], vectors[3*f.Dim:4*f.Dim]) ||
		slices.Equal(vectors[:f.Dim], vectors[2*f.Dim:3*f.Dim]) {
		t.Errorf("%d rows, want 7, of which the third and the fourth are of one sentence", f.N)
	}
	var want []byte
	for _, x := range vectors {
		want = binary.LittleEndian.AppendUint32(want, math.Float32bits(x))
	}
	if got, err := os.ReadFile(raw); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the raw file has %d bytes (error %v), want the %d of the array", len(got), err, len(want))
	}
}

// TestEncodeRefuses: nothing is left under the output's name.
func TestEncodeRefuses(t *testing.T) {
	dir := t.TempDir()
	out, bad := filepath.Join(dir, "x.npy"), filepath.Join(dir, "bad.txt")
	if err := os.WriteFile(bad, []byte("gut\n\xff\xfe\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"--lang", "de", "--out", out}, {"--out", out, bad}, {"--lang", "de", bad}, {"--lang", "de",
			"--out", filepath.Join(dir, "x.bin"), bad},
		{"--lang", "de", "--out", out, bad}, {"--lang", "xxy", "--out", out, bad}, {"--lang", "de", "--out", out,
			filepath.Join(dir, "none.txt")},
		{"--lang", "de", "--out", out, "--dtype", "int8", bad}, {"--lang", "de", "--out", out,
			"--raw", "--dtype", "float16", bad}, {"--lang", "de", "--out", out, "--raw", bad}, {"--lang", "de", "--out", out, "--encoder", "none", bad},
	} {
		if code := execute(t.Context(), append([]string{"encode"}, args...)); code != exitPermanent {
			t.Errorf("mine encode %s: exit code %d, want %d", strings.Join(args, " "), code, exitPermanent)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "x*")); err != nil || left != nil {
		t.Errorf("left %v, error %v", left, err)
	}
}
