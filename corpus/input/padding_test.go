package input

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"

	"bitextmine/internal/badinput"
)

// bzip2OfHello is "hello\n" by bzip2.
const bzip2OfHello = "QlpoOTFBWSZTWcHAgOIAAAFBAAAQAkSgADDNAMNGKZcXckU4UJDBwIDi"

// TestPadding: zeros after the end are passed over, and anything else there, or an end that is too early, is refused.
func TestPadding(t *testing.T) {
	const text = "hello\n"
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	bz, err := base64.StdEncoding.DecodeString(bzip2OfHello)
	if err != nil {
		t.Fatal(err)
	}
	for kind, data := range map[string][]byte{"gzip": zipped.Bytes(), "zstd": packed(t, text), "bzip2": bz} {
		twice := slices.Concat(data, data)
		zeros := make([]byte, 100_000)
		type file struct {
			data []byte
			want string // empty: it is refused
		}
		files := map[string]file{
			"as it is":           {data, text},
			"two":                {twice, text + text},
			"four zeros":         {slices.Concat(data, zeros[:4]), text},
			"a block":            {slices.Concat(data, zeros[:512]), text},
			"many zeros":         {slices.Concat(twice, zeros), text + text},
			"garbage":            {slices.Concat(data, []byte("garbage and more of it")), ""},
			"zeros, and garbage": {slices.Concat(data, zeros[:512], []byte("x")), ""},
			"zeros, and another": {slices.Concat(data, zeros[:512], data), ""},
			"cut":                {data[:len(data)-3], ""},
			"a second one, cut":  {twice[:len(twice)-7], ""},
		}
		for end := 10; end < len(data)-3; end++ {
			files[fmt.Sprintf("cut after %d bytes, then zeros", end)] = file{slices.Concat(data[:end], zeros[:512]), ""}
		}
		for name, c := range files {
			path := filepath.Join(t.TempDir(), "text")
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			r, err := OpenDecompressed(File{Path: path})
			if err != nil {
				t.Fatalf("%s, %s: %v", kind, name, err)
			}
			got, err := io.ReadAll(r)
			if c.want == "" && !badinput.Is(err) || c.want != "" && (err != nil || string(got) != c.want) {
				t.Errorf("%s, %s: %q, error %v", kind, name, got, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
