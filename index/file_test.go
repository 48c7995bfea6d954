package index

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/mine"
)

// lists returns neighbours of 3 rows over 5, and of 5 rows over 3.
func lists() (source, target mine.Neighbours) {
	source, target = mine.NewNeighbours(3, 2), mine.NewNeighbours(5, 2)
	copy(source.IDs, []int32{0, 4, 2, mine.None, mine.None, mine.None})
	copy(source.Cosines, []float32{0.9, 0.5, -0.25, 0, 0, 0})
	copy(target.IDs, []int32{0, 2, 1})
	copy(target.Cosines, []float32{0.9, 0.125, 0.5})
	return source, target
}

func listFile(t testing.TB) []byte {
	t.Helper()
	source, _ := lists()
	var data bytes.Buffer
	if err := WriteList(&data, source, 5); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

func cellFile(t testing.TB) []byte {
	t.Helper()
	var data bytes.Buffer
	source, target := lists()
	if err := WriteCell(&data, source, target); err != nil {
		t.Fatal(err)
	}
	return data.Bytes()
}

func equal(a, b mine.Neighbours) bool {
	return a.K == b.K && slices.Equal(a.IDs, b.IDs) && slices.Equal(a.Cosines, b.Cosines)
}

func saved(t *testing.T, content []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFilesSurvive(t *testing.T) {
	source, target := lists()
	path := saved(t, cellFile(t))
	for side, want := range []mine.Neighbours{source, target} {
		if got, err := OpenCell(path, side, 3, 5, 2); err != nil || !equal(got, want) {
			t.Errorf("side %d: %+v, error %v", side, got, err)
		}
	}
	got, err := OpenList(saved(t, listFile(t)), 3, 5, 2)
	if err != nil || !equal(got, source) {
		t.Errorf("list: %+v, error %v", got, err)
	}
}

// TestBytes holds both files to docs/formats.md: a store has them under keys that do not change with this code.
func TestBytes(t *testing.T) {
	head := func(magic string) []byte { return append([]byte(magic), 3, 0, 0, 0, 5, 0, 0, 0, 2, 0, 0, 0) }
	first := []byte{0, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 255, 255, 255, 255}
	for magic, data := range map[string][]byte{"MINELIST": listFile(t), "MINECELL": cellFile(t)} {
		if want := slices.Concat(head(magic), first); !bytes.HasPrefix(data, want) {
			t.Errorf("%s begins with % x, want % x", magic, data[:len(want)], want)
		}
	}
	if got, want := len(cellFile(t)), 20+(3+5)*2*8; got != want {
		t.Errorf("a cell file of %d bytes, want %d", got, want)
	}
}

func TestOpenRefuses(t *testing.T) {
	edited := func(content []byte, at int, value byte) []byte {
		content = slices.Clone(content)
		content[at] = value
		return content
	}
	list, cell := listFile(t), cellFile(t)
	huge := bytes.Repeat([]byte{255}, 12)
	for name, c := range map[string]struct {
		cell    bool
		content []byte
		n, m, k int
		says    string
	}{
		"list of another shard":        {false, list, 4, 5, 2, "instead of 4 over 5"},
		"list over another set":        {false, list, 3, 6, 2, "instead of 3 over 6"},
		"list with another k":          {false, list, 3, 5, 1, "k = 1"},
		"list cut short":               {false, list[:len(list)-1], 3, 5, 2, "bytes instead of"},
		"list without header":          {false, list[:10], 3, 5, 2, "truncated"},
		"cell in place of list":        {false, cell, 3, 5, 2, "does not begin with MINELIST"},
		"list with a row not there":    {false, edited(list, 20, 5), 3, 5, 2, "names row 5 of 5"},
		"list of a huge header":        {false, append([]byte(listMagic), huge...), 3, 5, 2, "invalid"},
		"list with k = 0":              {false, edited(list, 16, 0), 3, 5, 2, "invalid"},
		"list in place of cell":        {true, list, 3, 5, 2, "does not begin with MINECELL"},
		"another cell":                 {true, cell, 5, 3, 2, "instead of 5 over 3"},
		"cell cut short":               {true, cell[:len(cell)-1], 3, 5, 2, "bytes instead of"},
		"cell with a source not there": {true, edited(cell, 20, 5), 3, 5, 2, "source side: it names row 5 of 5"},
		"cell with a target not there": {true, edited(cell, 20+3*2*8, 3), 3, 5, 2, "target side: it names row 3 of 3"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			if path := saved(t, c.content); c.cell {
				for side := 0; side < 2 && err == nil; side++ {
					_, err = OpenCell(path, side, c.n, c.m, c.k)
				}
			} else {
				_, err = OpenList(path, c.n, c.m, c.k)
			}
			if !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("error %v does not say %q", err, c.says)
			}
		})
	}
}

// FuzzRead: what can be read names only rows that exist, and is written again byte for byte.
func FuzzRead(f *testing.F) {
	f.Add(listFile(f))
	f.Add(cellFile(f))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, magic := range []string{cellMagic, listMagic} {
			one := func(side int) (header, mine.Neighbours, error) {
				return read(bufio.NewReader(bytes.NewReader(content)), int64(len(content)), magic, side)
			}
			h, source, err := one(0)
			target := mine.Neighbours{}
			if err == nil && magic == cellMagic {
				_, target, err = one(1)
			}
			if err != nil {
				continue
			}
			for _, id := range source.IDs {
				if id < mine.None || int64(id) >= int64(h.M) {
					t.Errorf("row %d of %d", id, h.M)
				}
			}
			var again bytes.Buffer
			if magic == cellMagic {
				err = WriteCell(&again, source, target)
			} else {
				err = WriteList(&again, source, int(h.M))
			}
			if err != nil || !bytes.Equal(again.Bytes(), content) {
				t.Errorf("written again it differs, error %v", err)
			}
		}
	})
}
