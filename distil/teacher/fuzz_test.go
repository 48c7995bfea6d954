package teacher

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"bitextmine/internal/badinput"
)

// FuzzCache opens a cache of any two files: it is bad input, or its vectors can be asked for and others added.
func FuzzCache(f *testing.F) {
	head := binary.LittleEndian.AppendUint32([]byte(magic), 3)
	f.Add([]byte{}, []byte{})
	f.Add(head, make([]byte, 12))
	f.Add(append(head, make([]byte, 2*entrySize)...), make([]byte, 30))
	f.Fuzz(func(t *testing.T, index, vectors []byte) {
		dir := t.TempDir()
		at := filepath.Join(dir, "d1")
		if err := os.Mkdir(at, 0o777); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string][]byte{"index": index, "vectors": vectors} {
			if err := os.WriteFile(filepath.Join(at, name), content, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		teacher, err := New(&fake{}, dir, true)
		if err != nil {
			if !badinput.Is(err) {
				t.Errorf("error %v, want badinput", err)
			}
			return
		}
		defer closed(t, teacher)
		for key := range teacher.cache.rows {
			if err := teacher.cache.read(key, make([]float32, 3)); err != nil && !badinput.Is(err) {
				t.Errorf("read: error %v, want badinput", err)
			}
		}
		if _, err := teacher.Encode(t.Context(), []string{"en"}, []string{"one"}); err != nil {
			t.Error(err)
		}
	})
}
