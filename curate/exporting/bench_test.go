package exporting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"bitextmine/bitext"

	"bitextmine/bitext/table"
)

// mined writes a bitext of rows as mine run does.
func mined(tb testing.TB, rows int) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "mined.parquet")
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	w, err := bitext.NewWriter(f, bitext.Metadata{})
	for i := 0; i < rows && err == nil; i++ {
		prob := float32(rows-i) / float32(rows)
		err = w.Append(bitext.Row{
			Source: bitext.Sentence{Text: fmt.Sprintf("Der Satz Nummer %d ist etwa so lang, wie Sätze in Nachrichten im Durchschnitt sind, und nennt die Zahl %d.", i, i*i),
				Lang: "de", Key: [16]byte{byte(i), byte(i >> 8)}, Shard: "de.txt#0", Row: uint32(i), Doc: fmt.Sprintf("doc-%d", i/20), Line: uint64(i)},
			Target: bitext.Sentence{Text: fmt.Sprintf("Sentence number %d is about as long as sentences in the news are on average, and names the number %d.", i, i*i),
				Lang: "en", Key: [16]byte{byte(i), byte(i >> 8), 1}, Shard: "en.txt#0", Row: uint32(i), Doc: fmt.Sprintf("doc-%d", i/20), Line: uint64(i)},
			Score: 1 + prob/4, Prob: &prob, Cosine: prob, SourceMean: 0.5, TargetMean: 0.5, Keep: true,
		})
	}
	if err := errors.Join(err, w.Close(), f.Close()); err != nil {
		tb.Fatal(err)
	}
	return path
}

// BenchmarkExport measures the formats, and reading alone: what is left is writing.
func BenchmarkExport(b *testing.B) {
	in := mined(b, 200_000)
	size := func(paths ...string) (bytes int64) {
		for _, path := range paths {
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			bytes += info.Size()
		}
		return bytes
	}
	for _, columns := range [][]string{nil, {table.SourceText, table.TargetText}} {
		b.Run(fmt.Sprintf("read/columns=%d", len(columns)), func(b *testing.B) {
			for b.Loop() {
				opts := table.DefaultOptions()
				opts.Columns = columns
				r, err := table.Open([]string{in}, opts)
				for err == nil {
					_, err = r.Next(context.Background())
				}
				if !errors.Is(err, io.EOF) {
					b.Fatal(err)
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	for _, format := range []string{"tsv", "jsonl", "tmx", "moses", "parquet"} {
		b.Run(format, func(b *testing.B) {
			out := filepath.Join(b.TempDir(), "out."+format)
			for b.Loop() {
				if _, err := Run(context.Background(), Options{Files: []string{in}, Table: table.DefaultOptions(), Format: format, Out: out, Breaks: Escape}); err != nil {
					b.Fatal(err)
				}
			}
			if format == "moses" {
				b.SetBytes(size(filepath.Join(filepath.Dir(out), "out.moses.de"), filepath.Join(filepath.Dir(out), "out.moses.en")))
			} else {
				b.SetBytes(size(out))
			}
		})
	}
}
