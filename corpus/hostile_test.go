package corpus

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
	"bitextmine/internal/parquettest"
)

const hostileMemory = 384 << 20

// corpusFile is a Parquet file of one row that the corpus reader accepts.
func corpusFile() parquettest.File {
	return parquettest.File{Rows: 1, Columns: []parquettest.Column{
		{Name: "text", Type: parquettest.ByteArray, Pages: []parquettest.Page{{Values: 1, Body: parquettest.Texts("one")}}},
	}}
}

// readFile reads a file to its end and returns what stopped it, nil for the end.
func readFile(ctx context.Context, path string, opts Options) error {
	r, err := Open(input.File{Path: path}, opts)
	if err != nil {
		return err
	}
	for err == nil {
		_, err = r.NextContext(ctx)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, r.Close())
}

// TestHostileParquet reads files with false metadata. Each must be refused as bad input, with little time and memory.
func TestHostileParquet(t *testing.T) {
	opts := DefaultOptions()
	opts.Format = FormatParquet
	if _, counts, err := readAll("x.parquet", corpusFile().Bytes(), opts); err != nil || counts.Kept != 1 {
		t.Fatalf("the file that the others are made of: %v", err)
	}
	files := parquettest.Hostile(corpusFile(), 0)
	if !testing.Short() { // slow under the race detector
		files["a footer of 32 MB of nested groups"] = parquettest.NestedFooter(32 << 20)
	}
	for name, data := range files {
		t.Run(name, func(t *testing.T) {
			parquettest.Within(t, hostileMemory+8*uint64(len(data)), func() {
				err := readFile(t.Context(), parquettest.Save(t, data), opts)
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
	f.Columns[0].Codec = parquettest.LZ4Raw
	page.ClaimsBytes = int32(len(page.Body))
	page.Body = append([]byte{byte(len(page.Body)) << 4}, page.Body...) // only literals
	opts := DefaultOptions()
	opts.Format = FormatParquet
	sentences, _, err := readAll("x.parquet", f.Bytes(), opts)
	if err != nil || len(sentences) != 1 || sentences[0].Text != "one" {
		t.Errorf("%v, %v", sentences, err)
	}
}

// TestCodecThatIsNotRead checks that LZ4 in Hadoop's framing is reported as an unsupported codec and not as damage.
func TestCodecThatIsNotRead(t *testing.T) {
	f := corpusFile()
	f.Columns[0].Codec = 5
	opts := DefaultOptions()
	opts.Format = FormatParquet
	_, _, err := readAll("x.parquet", f.Bytes(), opts)
	if !badinput.Is(err) || !strings.Contains(err.Error(), "compressed with LZ4") || strings.Contains(err.Error(), "corrupt") {
		t.Errorf("%v", err)
	}
}

// TestReadingNullsIsStopped checks that reading can be cancelled: a small file may have more rows than can be read in a
// night.
func TestReadingNullsIsStopped(t *testing.T) {
	path := parquettest.Save(t, parquettest.Nulls("text", 1000))
	opts := DefaultOptions()
	opts.Format = FormatParquet
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	parquettest.Within(t, hostileMemory, func() {
		if err := readFile(ctx, path, opts); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ended with %v", err)
		}
	})
}

// TestPagesAreBounded checks that a page that is larger than is allowed is refused before memory is taken for it, and
// that the message says what to do.
func TestPagesAreBounded(t *testing.T) {
	const size = 32 << 20
	in := input.File{Path: parquettest.Save(t, parquettest.Large("text", size))}
	opts := DefaultOptions()
	read := func() (kept int, err error) {
		r, err := Open(in, opts)
		if err != nil {
			return 0, err
		}
		for err == nil {
			_, err = r.Next()
			kept++
		}
		return kept - 1, errors.Join(err, r.Close())
	}
	if kept, err := read(); !errors.Is(err, io.EOF) || kept < 100 {
		t.Fatalf("%d sentences of the file without a bound, error %v", kept, err)
	}
	in.MaxPage = size - 1
	parquettest.Within(t, 8<<20, func() {
		_, err := read()
		if !badinput.Is(err) || !errors.Is(err, input.ErrMemory) || !strings.Contains(err.Error(), "--max-memory") || !strings.Contains(err.Error(), "x.parquet") {
			t.Errorf("error %v", err)
		}
	})
}
