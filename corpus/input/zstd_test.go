package input

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"bitextmine/internal/badinput"
)

// packed compresses a text with zstd, by a dictionary if there is one.
func packed(t *testing.T, text string, options ...zstd.EOption) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil, options...)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll([]byte(text), nil)
}

// framed is data in a skippable frame of a number from 0 to 15.
func framed(number byte, data []byte) []byte {
	return append(binary.LittleEndian.AppendUint32([]byte{0x50 + number, 0x2a, 0x4d, 0x18}, uint32(len(data))), data...)
}

// TestZstdDictionary: a file that begins with its dictionary, as archives do, is read, and other skippable frames are
// passed over.
func TestZstdDictionary(t *testing.T) {
	var samples [][]byte
	for i := range 200 {
		samples = append(samples, fmt.Appendf(nil, "The tram number %d leaves the harbour at %d, and the bus at %d.", i*7919%1000, i*31%24, i*17%60))
	}
	history := bytes.Join(samples, nil)
	dictionary, err := zstd.BuildDict(zstd.BuildDictOptions{ID: 7, Contents: samples, History: history, Offsets: [3]int{1, 4, 8}})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("The tram number 17 leaves the harbour at 9, and the bus at 30.\n", 3)
	by := packed(t, text, zstd.WithEncoderDict(dictionary))
	plain := packed(t, text)
	for name, c := range map[string]struct {
		data  []byte
		fails bool
	}{
		"a dictionary":              {append(framed(13, dictionary), by...), false},
		"a compressed dictionary":   {append(framed(13, packed(t, string(dictionary))), by...), false},
		"none is there":             {by, true},
		"none in the frame":         {append(framed(13, []byte("hello")), plain...), false},
		"another frame":             {append(framed(0, dictionary), plain...), false},
		"the dictionary is cut off": {framed(13, dictionary)[:100], true},
		"a broken dictionary":       {append(framed(13, dictionary[:20]), by...), true},
	} {
		path := filepath.Join(t.TempDir(), "a.warc.zst")
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := OpenDecompressed(File{Path: path})
		if err == nil {
			var got []byte
			got, err = io.ReadAll(r)
			_ = r.Close()
			if !c.fails && string(got) != text {
				t.Errorf("%s: %q", name, got)
			}
		}
		if (err != nil) != c.fails || err != nil && (!badinput.Is(err) || !strings.Contains(err.Error(), path)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
