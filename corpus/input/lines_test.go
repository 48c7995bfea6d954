package input

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"

	"bitextmine/internal/badinput"
)

// FuzzLines compares the line reader with bytes.Split.
func FuzzLines(f *testing.F) {
	f.Add([]byte("one\ntwo\r\n\nthree"))
	f.Add(bytes.Repeat([]byte("x"), 200))
	f.Fuzz(func(t *testing.T, data []byte) {
		const max = 5
		r, err := NewLineReader(bufio.NewReaderSize(bytes.NewReader(data), 16), "a", max)
		if err != nil {
			t.Skip() // UTF-16, or lines that end in CR
		}
		data = bytes.TrimPrefix(data, UTF8BOM)
		var want [][]byte
		if len(data) > 0 {
			want = bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
		}
		for i, w := range want {
			line, excess, err := r.Next()
			w = bytes.TrimSuffix(w, []byte("\r"))
			switch {
			case err != nil:
				t.Fatalf("line %d: %v", i+1, err)
			case len(w) > max && excess < int64(len(w)), len(w) <= max && !bytes.Equal(line, w):
				t.Fatalf("line %d: %q, %d; want %q", i+1, line, excess, w)
			}
		}
		if _, _, err := r.Next(); !errors.Is(err, io.EOF) || r.Number != uint64(len(want)) {
			t.Fatalf("%v after %d lines of %d", err, r.Number, len(want))
		}
	})
}

// TestLinesOfCR: text whose lines end in CR alone is refused, one with such characters in its lines is not.
func TestLinesOfCR(t *testing.T) {
	for text, refused := range map[string]bool{
		"eins\rzwei\rdrei\r": true, "eins\rzwei\rdrei": true, "eins\r": false, "eins\rzwei\rdrei\n": false, "eins\r\nzwei\r\n": false, "": false,
		strings.Repeat("eins\r", 2000) + "\nzwei\n": false, strings.Repeat("eins\r", 20_000): true,
	} {
		_, err := NewLineReader(bufio.NewReaderSize(strings.NewReader(text), 4*PeekBytes), "a.txt", PeekBytes)
		if (err != nil) != refused || refused && (!badinput.Is(err) || !strings.Contains(err.Error(), "a.txt: its lines end in CR alone")) {
			t.Errorf("%.20q of %d bytes: %v", text, len(text), err)
		}
	}
}

// failing is a file that cannot be read to its end.
type failing struct {
	fs.File
	io.Reader
}

func (f failing) Read(p []byte) (int, error) { return f.Reader.Read(p) }

// TestSalvageEndsWithReadErrors: a read error behind damage is told again, as whoever looks for the next record may
// pass over it once.
func TestSalvageEndsWithReadErrors(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte("one"))
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	lost := errors.New("the disk is lost")
	src := &Source{Name: "a.warc.gz", Salvage: true,
		file: failing{Reader: io.MultiReader(&packed, strings.NewReader("this is no member of gzip"), iotest.ErrReader(lost))}}
	r, _, closeDecoder, err := src.Decompress()
	if err != nil {
		t.Fatal(err)
	}
	defer closeDecoder()
	var damage *Damage
	if text, err := io.ReadAll(r); string(text) != "one" || !errors.As(err, &damage) {
		t.Errorf("read %q, error %v", text, err)
	}
	for range 2 {
		if _, err := io.ReadAll(r); !errors.Is(err, lost) || !strings.Contains(err.Error(), "a.warc.gz") {
			t.Errorf("error %v", err)
		}
	}
}

// TestLongestLine: a bound that no line fits is refused, or every line would be set aside as too long.
func TestLongestLine(t *testing.T) {
	for _, longest := range []int{-1, 0, 1<<30 + 1} {
		if _, _, err := OpenLines(File{Path: "lines_test.go"}, longest); !badinput.Is(err) || !strings.Contains(err.Error(), "max_line_bytes") {
			t.Errorf("at most %d bytes: %v", longest, err)
		}
	}
}
