package input

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

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
