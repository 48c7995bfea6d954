package view

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows")
	for _, lists := range [][][]uint32{{}, {{}}, {{0, 3, 9}}, {{}, {2}, {}, {0, 1}}} {
		if err := WriteRows(path, lists); err != nil {
			t.Fatal(err)
		}
		bounds := make([]int, len(lists))
		for i := range bounds {
			bounds[i] = 10
		}
		if got, err := ReadRows(path, bounds...); err != nil || fmt.Sprint(got) != fmt.Sprint(lists) {
			t.Errorf("%v became %v, error %v", lists, got, err)
		}
	}
}

func TestDamagedFilesAreRefused(t *testing.T) {
	file := func(numbers ...uint32) []byte {
		data := bytes.Clone(magic)
		for _, n := range numbers {
			data = binary.LittleEndian.AppendUint32(data, n)
		}
		return data
	}
	for name, data := range map[string][]byte{
		"empty":                nil,
		"another file":         []byte("MINELIST\x00\x00\x00\x00"),
		"half a number":        append(file(1, 1), 7),
		"no lists":             file(0),
		"more lists than ends": file(9, 1),
		"an end after the end": file(1, 5, 0),
		"rows of no list":      file(1, 1, 0, 1),
		"a row that is absent": file(1, 1, 10),
		"rows descend":         file(1, 2, 4, 3),
		"a row twice":          file(1, 2, 4, 4),
		"ends descend":         file(2, 2, 1, 0, 1),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "rows")
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := ReadRows(path, 10); !badinput.Is(err) || !strings.Contains(err.Error(), path) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// FuzzDecode reads arbitrary bytes: lists that are read are written as they were.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("MINEROWS\x01\x00\x00\x00\x01\x00\x00\x00\x05\x00\x00\x00"))
	f.Add([]byte("MINEROWS\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		lists, err := decode(data)
		if err != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "rows")
		if err := WriteRows(path, lists); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%x became %x, error %v", data, again, err)
		}
	})
}
