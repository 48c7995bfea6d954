package spill

import (
	"bytes"
	"os"
	"slices"
	"testing"
)

// spaces are all ways to keep things: in memory, in a file, and in both.
func spaces(t *testing.T) map[string]Space {
	return map[string]Space{"memory": {}, "file": {Dir: t.TempDir()}, "both": {Dir: t.TempDir(), Memory: 1 << 10}}
}

func TestLog(t *testing.T) {
	for name, space := range spaces(t) {
		t.Run(name, func(t *testing.T) {
			l := NewLog(space)
			var records [][]byte
			var places []int64
			for i := range 300 {
				record := bytes.Repeat([]byte{byte(i)}, i*i%701+1)
				at, err := l.Append(record)
				if err != nil || at%Align != 0 {
					t.Fatalf("record %d is at %d, error %v", i, at, err)
				}
				records, places = append(records, record), append(places, at)
			}
			if err := l.Flush(); err != nil {
				t.Fatal(err)
			}
			for i, record := range records {
				got, err := l.At(places[i], make([]byte, len(record)))
				if err != nil || !bytes.HasPrefix(got, record) {
					t.Fatalf("record %d is %v, error %v", i, got, err)
				}
			}
			nothingLeft(t, space, l.Close())
		})
	}
}

func TestTable(t *testing.T) {
	for name, space := range spaces(t) {
		t.Run(name, func(t *testing.T) {
			table, err := NewTable[int32](space, 500, 3)
			if err != nil {
				t.Fatal(err)
			}
			if err := table.Write(100, []int32{1, 2, 3, 4, 5, 6}); err != nil {
				t.Fatal(err)
			}
			rows := make([]int32, 4*3)
			if err := table.Read(99, rows); err != nil || !slices.Equal(rows, []int32{0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0}) || table.Len() != 500 {
				t.Errorf("read %v, error %v", rows, err)
			}
			nothingLeft(t, space, table.Close())
		})
	}
}

// nothingLeft: a file has no name, so that nothing is left of it even while it is open.
func nothingLeft(t *testing.T, space Space, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
	if space.Dir == "" {
		return
	}
	if left, err := os.ReadDir(space.Dir); err != nil || len(left) > 0 {
		t.Errorf("%v is left, error %v", left, err)
	}
}

func TestNoDirectory(t *testing.T) {
	space := Space{Dir: "/not/there"}
	if _, err := NewTable[int32](space, 1, 1); err == nil {
		t.Error("a table in no directory")
	}
	if _, err := NewLog(space).Append([]byte{1}); err == nil {
		t.Error("a log in no directory")
	}
}

// TestArena: lists are zero, keep what is written to them, and leave nothing.
func TestArena(t *testing.T) {
	arenas := map[string]*Arena{"none": nil}
	for name, space := range spaces(t) {
		arenas[name] = &Arena{Space: space}
	}
	for name, a := range arenas {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{0, 1, 100_000} {
				list, err := Make[int32](a, n)
				if err != nil || len(list) != n || slices.ContainsFunc(list, func(x int32) bool { return x != 0 }) {
					t.Fatalf("%d of %d zeros, error %v", len(list), n, err)
				}
				for i := range list {
					list[i] = int32(i)
				}
				if n > 0 && list[n-1] != int32(n-1) {
					t.Errorf("the last of %d is %d", n, list[n-1])
				}
			}
			if a != nil {
				nothingLeft(t, a.Space, a.Close())
			}
		})
	}
	if _, err := Make[byte](&Arena{Space: Space{Dir: t.TempDir()}}, 1<<60); err == nil {
		t.Error("a list that is larger than every disk")
	}
}

// TestGrowing: a list that grows has all that was appended, in memory and in a file, and leaves nothing.
func TestGrowing(t *testing.T) {
	arenas := map[string]*Arena{"none": nil}
	for name, space := range spaces(t) {
		arenas[name] = &Arena{Space: space}
	}
	for name, a := range arenas {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{0, 1, 1000, 100_000} {
				g := NewGrowing[int32](a)
				for i := range n {
					if err := g.Append([]int32{int32(2 * i), int32(2*i + 1)}); err != nil {
						t.Fatal(err)
					}
				}
				list, err := g.List()
				if err != nil || len(list) != 2*n {
					t.Fatalf("%d of %d values, error %v", len(list), 2*n, err)
				}
				for i, x := range list {
					if x != int32(i) {
						t.Fatalf("value %d of %d is %d", i, len(list), x)
					}
				}
			}
			if a != nil {
				nothingLeft(t, a.Space, a.Close())
			}
		})
	}
	left := NewGrowing[byte](&Arena{Space: Space{Dir: t.TempDir()}})
	if err := left.Append(make([]byte, 9)); err != nil || left.Close() != nil {
		t.Errorf("a list that nobody asks for: %v", err)
	}
}
