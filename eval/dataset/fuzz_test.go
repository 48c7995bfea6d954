package dataset

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"bitextmine/internal/badinput"
)

// FuzzUnpackTar unpacks arbitrary bytes: whatever they say, files come only into the directory.
func FuzzUnpackTar(f *testing.F) {
	for _, name := range []string{"set/dev/deu.dev", "../escape", "/escape", "./a/../../escape", "a/."} {
		packed, err := gzip.NewReader(bytes.NewReader(tarball(f, name, "eins\n")))
		if err != nil {
			f.Fatal(err)
		}
		plain, err := io.ReadAll(packed)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(plain)
	}
	f.Fuzz(func(t *testing.T, archive []byte) {
		outside := t.TempDir()
		dir := filepath.Join(outside, "data")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := unpackTar(tar.NewReader(bytes.NewReader(archive)), "x.tar.gz", dir); err != nil && !badinput.Is(err) {
			t.Errorf("error %v is no bad input", err)
		}
		entries, err := os.ReadDir(outside)
		if err != nil || len(entries) != 1 {
			t.Errorf("outside the directory lie %v, error %v", entries, err)
		}
		err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() && !e.Type().IsRegular() {
				t.Errorf("%s is no regular file", path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	})
}
