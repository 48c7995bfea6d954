package exchange

import (
	"bufio"
	"io"
)

// withoutOriginal leaves out what <internal-file> holds: the document that a program embeds in XLIFF, of any length.
type withoutOriginal struct {
	from  *bufio.Reader
	where int    // outside, in the start tag, or in the element
	seen  int    // how many bytes of the tag to come were read
	last  byte   // the byte before
	ahead string // what is to be given before the next byte
}

const (
	outside = iota
	inTag
	inside

	originalBegin, originalEnd = "<internal-file", "</internal-file>"
)

func newWithoutOriginal(from io.Reader) io.Reader {
	return &withoutOriginal{from: bufio.NewReader(from)}
}

func (w *withoutOriginal) Read(p []byte) (n int, err error) {
	for n < len(p) {
		if w.ahead != "" {
			p[n], w.ahead = w.ahead[0], w.ahead[1:]
			n++
			continue
		}
		b, err := w.from.ReadByte()
		if err != nil {
			if n > 0 {
				err = nil // it comes again
			}
			return n, err
		}
		if w.where != inside {
			p[n] = b
			n++
		}
		w.step(b)
	}
	return n, nil
}

// step goes over a byte.
func (w *withoutOriginal) step(b byte) {
	mark := originalBegin
	if w.where == inside {
		mark = originalEnd
	}
	switch {
	case w.where == inTag:
		if b == '>' && w.last == '/' {
			w.where = outside
		} else if b == '>' {
			w.where = inside
		}
	case b == mark[w.seen]:
		w.seen++
	case b == mark[0]:
		w.seen = 1
	default:
		w.seen = 0
	}
	w.last = b
	if w.seen < len(mark) {
		return
	}
	w.seen = 0
	if w.where == inside {
		w.where, w.ahead = outside, originalEnd
	} else {
		w.where = inTag
	}
}
