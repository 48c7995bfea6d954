// Package corpustest has what tests of texts share: files of generated sentences, a check of errors, and the archives
// of shared test sets. These are beside the checkout, if at all: their licences do not allow them in the repository.
package corpustest

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/ulikunitz/xz"

	"bitextmine/internal/badinput"
)

// BadInput checks that the error is one sentence of a badinput error that contains all given parts.
func BadInput(t testing.TB, err error, parts ...string) {
	t.Helper()
	if err == nil || !badinput.Is(err) {
		t.Fatalf("error %v, want a badinput error", err)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("more than one line: %q", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

// Parquet returns a Parquet file of the rows, written by another library than the program's.
func Parquet[T any](t testing.TB, rows []T, opts ...parquet.WriterOption) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out, opts...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// BUCC returns a text of n lines in the BUCC format, of which as many as given have different sentences.
func BUCC(n, distinct int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "id-%d\tSatz  Nummer %d\n", i, i%distinct)
	}
	return b.String()
}

// Bench returns the path of the text that benchmarks read: 27,000 sentences of news and encyclopaedia from the unpacked
// shared data in BITEXTMINE_BENCH_TEXT. Without it the sentences are generated; they are shorter and compress better.
func Bench(b *testing.B) string {
	if path := os.Getenv("BITEXTMINE_BENCH_TEXT"); path != "" {
		return path
	}
	path := filepath.Join(b.TempDir(), "a")
	if err := os.WriteFile(path, []byte(BUCC(27000, 27000)), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

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
