package program

import (
	"bytes"
	"io"
	"os"
	"slices"
	"strconv"
	"unicode/utf8"

	"golang.org/x/term"
)

// Output is where a command's text goes: the file, or, if that is a terminal, a writer for which foreign text is text
// alone. Crawled text may have escape sequences, which a terminal obeys.
func Output(f *os.File) io.Writer {
	if term.IsTerminal(int(f.Fd())) {
		return &Terminal{out: f, Columns: func() (int, error) { width, _, err := term.GetSize(int(f.Fd())); return width, err }}
	}
	return f
}

// The codes that a Terminal obeys.
const (
	Bold  = "\x1b[1m"
	Plain = "\x1b[0m"
)

// Terminal writes control characters, and those that turn the direction of text, as Go writes them in strings: \x1b.
// Line ends, tabs, Bold and Plain stay as they are. It may be used by one goroutine.
type Terminal struct {
	Columns func() (int, error)
	out     io.Writer
	rest    []byte // beginning of a character or a code at the end of the last Write
}

func (t *Terminal) Write(p []byte) (int, error) {
	in := slices.Concat(t.rest, p)
	var out []byte
	for len(in) > 0 {
		if code := begins(in, Bold, Plain); code == len(in) && code < len(Bold) || !utf8.FullRune(in) {
			break // the next call has the rest
		} else if code == len(Bold) {
			out, in = append(out, in[:code]...), in[code:]
			continue
		}
		r, n := utf8.DecodeRune(in)
		switch {
		case r == utf8.RuneError && n == 1:
			out = append(append(out, `\x`...), strconv.FormatUint(uint64(in[0]), 16)...)
		case r != '\n' && r != '\t' && foreign(r):
			quoted := strconv.QuoteRuneToASCII(r)
			out = append(out, quoted[1:len(quoted)-1]...)
		default:
			out = append(out, in[:n]...)
		}
		in = in[n:]
	}
	t.rest = bytes.Clone(in)
	if _, err := t.out.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// begins is the length of the beginning that a text has in common with the code of which it has most.
func begins(text []byte, codes ...string) (most int) {
	for _, code := range codes {
		n := 0
		for n < min(len(code), len(text)) && text[n] == code[n] {
			n++
		}
		most = max(most, n)
	}
	return most
}

// foreign reports whether a terminal does something other than to show a character.
func foreign(r rune) bool {
	return r < ' ' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}
