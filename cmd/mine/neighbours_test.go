package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/encode/embedding"
	"bitextmine/internal/badinput"
)

// TestNeighbours: both directions, the nearest first, -1 where there is no row.
func TestNeighbours(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, rows []float32, dim int) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, embedding.Array(rows, dim), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	source, target := file("a.npy", []float32{1, 0, 0, 1, 0.6, 0.8}, 2), file("b.npy", []float32{0.8, 0.6, 0, -1}, 2)
	out := filepath.Join(dir, "nearest")
	must(t, "neighbours", source, target, "--k", "3", "--out", out)
	rows := func(name string) (rows []int32) {
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil || !bytes.Contains(data, []byte("'descr': '<i4'")) {
			t.Fatalf("%s: %v", name, err)
		}
		for data = data[128:]; len(data) > 0; data = data[4:] {
			rows = append(rows, int32(binary.LittleEndian.Uint32(data)))
		}
		return rows
	}
	for name, want := range map[string][]int32{"src_rows.npy": {0, 1, -1, 0, 1, -1, 0, 1, -1},
		"tgt_rows.npy": {2, 0, 1, 0, 2, 1}} {
		got := rows(name)
		for i := range want {
			if len(got) != len(want) || got[i] != want[i] {
				t.Fatalf("%s: %v, not %v", name, got, want)
			}
		}
	}
	cosines, err := embedding.OpenArray(filepath.Join(out, "tgt_cosines.npy"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cosines.Close() }()
	if cosines.N != 2 || cosines.F32[0] < 0.959 || cosines.F32[0] > 0.961 {
		t.Errorf("cosines %v", cosines.F32)
	}
	// The same directions in other lengths have the same neighbours.
	unit, err := os.ReadFile(filepath.Join(out, "src_rows.npy"))
	if err != nil {
		t.Fatal(err)
	}
	long := file("long.npy", []float32{9, 0, 0, 0.1, 6, 8}, 2)
	must(t, "neighbours", long, target, "--k", "3", "--out", out)
	if again, err := os.ReadFile(filepath.Join(out, "src_rows.npy")); err != nil || !bytes.Equal(unit, again) {
		t.Errorf("vectors of another length: %v, %v", rows("src_rows.npy"), err)
	}
	must(t, "neighbours", source, target, "--k", "3", "--out", out, "--search", "auto")
	if again, err := os.ReadFile(filepath.Join(out, "src_rows.npy")); err != nil || !bytes.Equal(unit, again) {
		t.Errorf("with --search auto: %v, %v", rows("src_rows.npy"), err)
	}
	// Values without a header, as LASER writes them.
	raw := filepath.Join(dir, "a.raw")
	values, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(raw, values[128:], 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, "neighbours", raw, target, "--k", "3", "--out", out, "--emb-dim", "2", "--emb-dtype", "float32")
	if again, err := os.ReadFile(filepath.Join(out, "src_rows.npy")); err != nil || !bytes.Equal(unit, again) {
		t.Errorf("of values without a header: %v, %v", rows("src_rows.npy"), err)
	}
	empty := file("empty.npy", nil, 2)
	if _, err := command(t, "neighbours", empty, target, "--out", out); !badinput.Is(err) || !strings.Contains(err.Error(), "its file of vectors, is not empty") {
		t.Errorf("without rows: %v", err)
	}
	for _, args := range [][]string{
		{raw, target, "--out", out},
		{source, target},
		{source, file("zero.npy", []float32{1, 0, 0, 0}, 2), "--out", out},
		{source, file("c.npy", []float32{1, 2, 3}, 3), "--out", out},
		{source, filepath.Join(dir, "nowhere.npy"), "--out", out},
		{source, target, "--out", source},
	} {
		if _, err := command(t, append([]string{"neighbours"}, args...)...); !badinput.Is(err) {
			t.Errorf("mine neighbours %s: %v", strings.Join(args, " "), err)
		}
	}
}
