package concordance

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func record(i int) []byte {
	return []byte(strings.Repeat(fmt.Sprintf("record %d ", i), i%40))
}

func head(i int) []byte { return bytes.Repeat([]byte{byte(i)}, i%9) }

// add writes records from one to before another in as many openings as asked for.
func add(t testing.TB, name string, from, to, openings int) {
	t.Helper()
	step := (to - from + openings - 1) / openings
	for ; from < to; from += step {
		w, err := AppendBlocks(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := from; i < min(from+step, to); i++ {
			row, err := w.Add(head(i), record(i))
			if err != nil || row != uint64(i) {
				t.Fatalf("record %d has the number %d, error %v", i, row, err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func check(t *testing.T, name string, n int) {
	t.Helper()
	r, err := OpenBlocks(name)
	if err != nil {
		t.Fatal(err)
	}
	if r.Len() != uint64(n) {
		t.Errorf("%d records, want %d", r.Len(), n)
	}
	c := r.Cursor()
	for step := range 7 {
		for i := step; i < n; i += 1 + 37*step {
			got, err := c.Head(uint64(i))
			if err != nil || !bytes.Equal(got, head(i)) {
				t.Fatalf("head %d is %q, error %v", i, got, err)
			}
			if got, err = c.Body(uint64(i)); err != nil || !bytes.Equal(got, record(i)) {
				t.Fatalf("record %d is %q, error %v", i, got, err)
			}
		}
	}
	for _, get := range []func(uint64) ([]byte, error){c.Head, c.Body} {
		if _, err := get(uint64(n)); err == nil {
			t.Error("a record behind the last was found")
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRecordsComeBack(t *testing.T) {
	name := filepath.Join(t.TempDir(), "texts")
	add(t, name, 0, 1000, 1)
	check(t, name, 1000)
	add(t, name, 1000, 1777, 5) // part-filled blocks
	check(t, name, 1777)
}

// TestAfterAKilledWriter: what is not listed, or listed and not there, is written over.
func TestAfterAKilledWriter(t *testing.T) {
	name := filepath.Join(t.TempDir(), "texts")
	add(t, name, 0, 300, 1)
	for suffix, tail := range map[string]string{dataSuffix: "half a block", listSuffix: "half"} {
		f, err := os.OpenFile(name+suffix, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(tail)
		}
		if err != nil || f.Close() != nil {
			t.Fatal(err)
		}
	}
	check(t, name, 300)
	add(t, name, 300, 500, 1)
	check(t, name, 500)
	if err := os.Truncate(name+dataSuffix, 100); err != nil { // the blocks are gone, their entries are not
		t.Fatal(err)
	}
	add(t, name, 0, 200, 1)
	check(t, name, 200)
}

// FuzzDamage: damaged files give records or an error.
func FuzzDamage(f *testing.F) {
	name := filepath.Join(f.TempDir(), "texts")
	add(f, name, 0, 300, 2)
	data, err := os.ReadFile(name + dataSuffix)
	if err != nil {
		f.Fatal(err)
	}
	list, err := os.ReadFile(name + listSuffix)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data, list)
	f.Add(data[:len(data)/2], list)
	f.Add([]byte{}, list)
	f.Fuzz(func(t *testing.T, data, list []byte) {
		name := filepath.Join(t.TempDir(), "texts")
		for suffix, content := range map[string][]byte{dataSuffix: data, listSuffix: list} {
			if err := os.WriteFile(name+suffix, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := OpenBlocks(name)
		if err != nil {
			return
		}
		c := r.Cursor()
		for row := range min(r.Len(), 1000) {
			_, noHead := c.Head(row)
			if _, err := c.Body(row); err != nil || noHead != nil {
				break
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Len is the number of records.
func (r *BlockReader) Len() uint64 {
	if len(r.entries) == 0 {
		return 0
	}
	return r.entries[len(r.entries)-1].rows
}
