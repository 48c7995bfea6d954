package input

import (
	"bufio"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
)

// members is the content of a gzip file: its members, and then zeros perhaps, as tapes and some tools fill a block up
// with. gzip(1) ignores them, too.
type members struct {
	z   *gzip.Reader
	raw *bufio.Reader
}

func newMembers(raw *bufio.Reader) (*members, error) {
	z, err := gzip.NewReader(raw)
	if err == nil {
		z.Multistream(false)
	}
	return &members{z, raw}, err
}

func (m *members) Read(p []byte) (int, error) {
	for {
		n, err := m.z.Read(p)
		if n > 0 && errors.Is(err, io.EOF) {
			err = nil // it comes again
		}
		if n > 0 || !errors.Is(err, io.EOF) {
			return n, err
		}
		head, err := m.raw.Peek(1)
		if len(head) == 0 {
			return 0, err
		}
		if head[0] == 0 {
			return 0, onlyZeros(m.raw, gzip.ErrHeader)
		}
		if err := m.z.Reset(m.raw); err != nil {
			return 0, err
		}
		m.z.Multistream(false)
	}
}

// onlyZeros reads the rest, and is io.EOF if it is zeros, else the other error.
func onlyZeros(raw *bufio.Reader, other error) error {
	for {
		b, err := raw.ReadByte()
		if err != nil {
			return err
		}
		if b != 0 {
			return other
		}
	}
}

// padded is the content of a stream that zeros may follow, of a decoder that looks for another stream behind each.
type padded struct {
	r      io.Reader
	raw    *counted
	magic  int              // bytes with which a stream begins
	failed func(error) bool // tells the error of a stream that begins with others
}

func (p *padded) Read(data []byte) (int, error) {
	n, err := p.r.Read(data)
	if err != nil && !errors.Is(err, io.EOF) && p.failed(err) && p.raw.zeros >= p.magic {
		err = onlyZeros(p.raw.Reader, err)
	}
	return n, err
}

// counted counts the zeros that were read last.
type counted struct {
	*bufio.Reader
	zeros int
}

func (c *counted) Read(data []byte) (int, error) {
	n, err := c.Reader.Read(data)
	last := n
	for last > 0 && data[last-1] == 0 {
		last--
	}
	if last > 0 {
		c.zeros = 0
	}
	c.zeros += n - last
	return n, err
}

func (c *counted) ReadByte() (byte, error) {
	b, err := c.Reader.ReadByte()
	if c.zeros++; b != 0 {
		c.zeros = 0
	}
	return b, err
}
