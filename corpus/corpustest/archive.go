// Package corpustest has what tests of texts share: files of generated sentences, a check of errors, and the archives
// of shared test sets. These are beside the checkout, if at all: their licences do not allow them in the repository.
package corpustest

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// Archive calls each with the name and content of every file in a .tar.xz or .tar.zst of the shared data. It skips the
// test if the archive does not exist.
func Archive(t testing.TB, archive string, each func(name string, content io.Reader)) {
	t.Helper()
	f, err := os.Open(filepath.Join(root(), "..", "shared", "data", archive))
	if err != nil {
		t.Skipf("this test needs the shared test sets beside the repository: %v", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	var plain io.Reader
	if strings.HasSuffix(archive, ".xz") {
		plain, err = xz.NewReader(f)
	} else {
		var d *zstd.Decoder
		if d, err = zstd.NewReader(f); err == nil {
			defer d.Close()
			plain = d
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	for entries := tar.NewReader(plain); ; {
		h, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg && filepath.IsLocal(h.Name) {
			each(h.Name, entries)
		}
	}
}

// root is the path of the repository, in a folder of which a test runs.
func root() string {
	dir := "."
	for range 8 {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Join(dir, "..")
	}
	return "."
}
