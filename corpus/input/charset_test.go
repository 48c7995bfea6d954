package input

import (
	"io"
	"strings"
	"testing"
)

// TestDecoded: each character that cannot be read is a byte that is not UTF-8, wherever buffers of the decoder end.
func TestDecoded(t *testing.T) {
	for before := range 5 {
		text := strings.Repeat("a", before) + strings.Repeat("bc\ufffdשׁ\uffe6", 5000)
		data := strings.NewReplacer("\ufffd", "\xff", "שׁ", "\xf9\xd1", "\uffe6", "\xef").Replace(text)
		want := strings.NewReplacer("\ufffd", "\xc0", "\uffe6", "ן").Replace(text)
		r, err := Decoded(strings.NewReader(data), "windows-1255")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != want {
			t.Errorf("%d letters before: %.40q, want %.40q, error %v", before, got, want, err)
		}
	}
}
