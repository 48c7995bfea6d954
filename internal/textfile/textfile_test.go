package textfile

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"bitextmine/internal/badinput"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	for name, read := range map[string]func(io.Reader) (io.Reader, error){
		"a.tsv":    func(r io.Reader) (io.Reader, error) { return r, nil },
		"a.tsv.gz": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"A.GZ":     func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"a.zst":    func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	} {
		path := filepath.Join(dir, name)
		err := Write(path, func(w io.Writer) error {
			_, err := io.WriteString(w, "Ein Satz.\n")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		plain, err := read(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := io.ReadAll(plain); err != nil || string(got) != "Ein Satz.\n" {
			t.Errorf("%s has %q (%v)", name, got, err)
		}
	}
	if err := Write(filepath.Join(dir, "a.xz"), nil); !badinput.Is(err) || !strings.Contains(err.Error(), ".xz is not written") {
		t.Errorf("error %v", err)
	}
}

func TestStem(t *testing.T) {
	for path, want := range map[string]string{"a.tsv.gz": "a.tsv", "a.zst": "a", "a.tsv": "a.tsv", "a.xz": "a.xz", "gz": "gz"} {
		if got := Stem(path); got != want {
			t.Errorf("%s without its compression is %s", path, got)
		}
		if refused := RefuseCompression(path); (refused != nil) != (filepath.Ext(path) == ".xz" || want != path) {
			t.Errorf("%s: %v", path, refused)
		}
	}
}
