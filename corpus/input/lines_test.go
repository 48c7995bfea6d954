package input

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"testing"
)

// FuzzLines compares the line reader with bytes.Split.
func FuzzLines(f *testing.F) {
	f.Add([]byte("one\ntwo\r\n\nthree"))
	f.Add(bytes.Repeat([]byte("x"), 200))
	f.Fuzz(func(t *testing.T, data []byte) {
		const max = 5
		r, err := NewLineReader(bufio.NewReaderSize(bytes.NewReader(data), 16), "a", max)
		if err != nil {
			t.Skip() // UTF-16
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
