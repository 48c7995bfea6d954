package pipeline

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/mine"
)

func someLists() mine.Neighbours {
	lists := mine.NewNeighbours(3, 2)
	copy(lists.IDs, []int32{0, 4, 2, mine.None, mine.None, mine.None})
	copy(lists.Cosines, []float32{0.9, 0.5, -0.25, 0, 0, 0})
	return lists
}

func TestLists(t *testing.T) {
	var data bytes.Buffer
	if err := writeLists(&data, someLists(), 5); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.list")
	open := func(content []byte, n, m, k int) (mine.Neighbours, error) {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return openLists(path, n, m, k)
	}
	got, err := open(data.Bytes(), 3, 5, 2)
	if want := someLists(); err != nil || !slices.Equal(got.IDs, want.IDs) || !slices.Equal(got.Cosines, want.Cosines) {
		t.Errorf("read %+v, error %v", got, err)
	}
	other := slices.Clone(data.Bytes())
	other[20] = 5 // the first id
	for name, c := range map[string]struct {
		content []byte
		n, m, k int
		says    string
	}{
		"another shard":        {data.Bytes(), 4, 5, 2, "instead of 4 over 5"},
		"another cover":        {data.Bytes(), 3, 6, 2, "instead of 3 over 6"},
		"another k":            {data.Bytes(), 3, 5, 1, "k = 1"},
		"cut short":            {data.Bytes()[:data.Len()-1], 3, 5, 2, "bytes instead of"},
		"no header":            {data.Bytes()[:10], 3, 5, 2, "cut short"},
		"another file":         {bytes.Repeat([]byte("x"), 100), 3, 5, 2, "does not begin with"},
		"a row that is not":    {other, 3, 5, 2, "names row 5 of 5"},
		"a senseless k of all": {append([]byte(listsMagic), bytes.Repeat([]byte{255}, 12)...), 3, 5, 2, "senseless"},
	} {
		if _, err := open(c.content, c.n, c.m, c.k); !badinput.Is(err) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: error %v does not say %q", name, err, c.says)
		}
	}
}

func FuzzReadLists(f *testing.F) {
	var data bytes.Buffer
	if err := writeLists(&data, someLists(), 5); err != nil {
		f.Fatal(err)
	}
	f.Add(data.Bytes())
	f.Fuzz(func(t *testing.T, content []byte) {
		lists, others, err := readLists(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return
		}
		for _, id := range lists.IDs {
			if id < mine.None || int(id) >= others {
				t.Errorf("row %d of %d", id, others)
			}
		}
		var again bytes.Buffer
		if err := writeLists(&again, lists, others); err != nil || !bytes.Equal(again.Bytes(), content) {
			t.Errorf("written again it differs, error %v", err)
		}
	})
}
