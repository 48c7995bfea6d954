package bitext_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

const corpusMemory = 384 << 20 // bytes

// corpusFile is a Parquet file of one row that the corpus reader accepts.
func corpusFile() File {
	return File{Rows: 1, Columns: []Column{
		{Name: "text", Type: ByteArray, Pages: []Page{{Values: 1, Body: Texts("one")}}},
	}}
}

// readFile reads a file to its end and returns its texts and what stopped it, nil for the end.
func readFile(ctx context.Context, in input.File, opts corpus.Options) (texts []string, err error) {
	r, err := corpus.Open(in, opts)
	if err != nil {
		return nil, err
	}
	for err == nil {
		var s corpus.Sentence
		if s, err = r.NextContext(ctx); err == nil {
			texts = append(texts, s.Text)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return texts, errors.Join(err, r.Close())
}

// saved is a file of the test.
func saved(t testing.TB, data []byte) input.File { return input.File{Path: Save(t, data)} }

// TestHostileParquet reads files with false metadata. Each must be refused as bad input, with little time and memory.
func TestHostileParquet(t *testing.T) {
	opts := corpus.DefaultOptions()
	opts.Format = corpus.FormatParquet
	if texts, err := readFile(t.Context(), saved(t, corpusFile().Bytes()), opts); err != nil || len(texts) != 1 {
		t.Fatalf("the file that the others are made of: %v", err)
	}
	files := Hostile(corpusFile(), 0)
	if !testing.Short() { // slow under the race detector
		files["a footer of 32 MB of nested groups"] = NestedFooter(32 << 20)
	}
	for name, data := range files {
		t.Run(name, func(t *testing.T) {
			Within(t, corpusMemory+8*uint64(len(data)), func() {
				_, err := readFile(t.Context(), saved(t, data), opts)
				if !badinput.Is(err) || !strings.Contains(err.Error(), "x.parquet") {
					t.Errorf("%d bytes: %v does not name the file as bad input", len(data), err)
				}
			})
		})
	}
}

// TestLZ4RawParquet checks that the codec LZ4_RAW is read as one block of LZ4.
func TestLZ4RawParquet(t *testing.T) {
	f := corpusFile()
	page := &f.Columns[0].Pages[0]
	f.Columns[0].Codec = LZ4Raw
	page.ClaimsBytes = int32(len(page.Body))
	page.Body = append([]byte{byte(len(page.Body)) << 4}, page.Body...) // only literals
	opts := corpus.DefaultOptions()
	opts.Format = corpus.FormatParquet
	texts, err := readFile(t.Context(), saved(t, f.Bytes()), opts)
	if err != nil || len(texts) != 1 || texts[0] != "one" {
		t.Errorf("%v, %v", texts, err)
	}
}

// TestCodecThatIsNotRead checks that LZ4 in Hadoop's framing is reported as an unsupported codec and not as damage.
func TestCodecThatIsNotRead(t *testing.T) {
	f := corpusFile()
	f.Columns[0].Codec = 5
	opts := corpus.DefaultOptions()
	opts.Format = corpus.FormatParquet
	_, err := readFile(t.Context(), saved(t, f.Bytes()), opts)
	if !badinput.Is(err) || !strings.Contains(err.Error(), "compressed with LZ4") || strings.Contains(err.Error(), "corrupt") {
		t.Errorf("%v", err)
	}
}

// TestReadingNullsIsStopped checks that reading can be cancelled: a small file may have more rows than can be read in a
// night.
func TestReadingNullsIsStopped(t *testing.T) {
	in := saved(t, Nulls("text", 1000))
	opts := corpus.DefaultOptions()
	opts.Format = corpus.FormatParquet
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	Within(t, corpusMemory, func() {
		if _, err := readFile(ctx, in, opts); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ended with %v", err)
		}
	})
}

// TestPagesAreBounded checks that a page that is larger than is allowed is refused before memory is taken for it, and
// that the message says what to do.
func TestPagesAreBounded(t *testing.T) {
	const size = 32 << 20
	in := saved(t, Large("text", size))
	opts := corpus.DefaultOptions()
	if texts, err := readFile(t.Context(), in, opts); err != nil || len(texts) < 100 {
		t.Fatalf("%d sentences of the file without a bound, error %v", len(texts), err)
	}
	in.MaxPage = size - 1
	Within(t, 8<<20, func() {
		_, err := readFile(t.Context(), in, opts)
		if !badinput.Is(err) || !errors.Is(err, input.ErrMemory) || !strings.Contains(err.Error(), "--max-memory") || !strings.Contains(err.Error(), "x.parquet") {
			t.Errorf("error %v", err)
		}
	})
}
