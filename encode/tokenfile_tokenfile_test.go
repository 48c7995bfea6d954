package encode

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestLog: ids beyond what is held in memory come back, each sentence's once and in ascending order.
func TestLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.npy")
	log := NewTokenLog(t.TempDir())
	const n, most = 3_000, 1_000
	for i := range n {
		ids := make([]int32, 0, 2*most)
		for j := range i % most {
			ids = append(ids, int32(most-j), int32(most-j))
		}
		if err := log.Add(ids); err != nil {
			t.Fatal(err)
		}
	}
	if len(log.parts) == 0 {
		t.Fatal("all ids are in memory")
	}
	if err := log.Write(path); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := OpenTokenFile(path, n)
	if err != nil || got == nil {
		t.Fatal(got, err)
	}
	defer func() { _ = got.Close() }()
	for i := range n {
		want := make([]int32, 0, most)
		for j := range i % most {
			want = append(want, int32(most-i%most+1+j))
		}
		if !slices.Equal(got.Of(uint32(i)), want) {
			t.Fatalf("sentence %d has %v, want %v", i, got.Of(uint32(i)), want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(magic + "\x01\x00\x00\x00\x02\x00\x00\x00\x02\x00\x00\x00\x07\x00\x00\x00\x09\x00\x00\x00"))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		ids, err := decode(data)
		if err != nil {
			return
		}
		last := uint32(0)
		for _, end := range ids.ends {
			if end < last || int(end) > len(ids.ids) {
				t.Fatalf("ends %v of %d ids", ids.ends, len(ids.ids))
			}
			last = end
		}
	})
}
