package corpustest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

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
