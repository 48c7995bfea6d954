package input

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
)

// Damage is the error for a part of compressed data that cannot be read. What follows is the data behind it.
type Damage struct {
	At  int64 // bytes of the file that were read, about
	Err error
}

func (d *Damage) Error() string {
	return fmt.Sprintf("about byte %d of the file: %v", d.At, d.Err)
}

// Unwrap returns the decompressor's error.
func (d *Damage) Unwrap() error { return d.Err }

// salvage reads compressed data and, behind damage, goes on: in gzip at the next member, as archives have one for each
// record; in other compressions the rest is lost. A read error ends it.
type salvage struct {
	src  *Source
	raw  *bufio.Reader
	gzip bool
	r    io.Reader // of the member that is read; nil: none is open
	end  bool
}

func (s *salvage) Read(p []byte) (int, error) {
	for !s.end {
		if s.r == nil {
			if err := s.open(); err != nil {
				return 0, s.damage(err)
			}
			continue
		}
		n, err := s.r.Read(p)
		switch {
		case err == nil, n > 0 && errors.Is(err, io.EOF):
			if err != nil {
				s.r = nil
			}
			return n, nil
		case !errors.Is(err, io.EOF):
			return n, s.damage(err)
		}
		if s.r = nil; !s.gzip {
			s.end = true
		}
	}
	return 0, io.EOF
}

// open opens the next member.
func (s *salvage) open() error {
	if _, err := s.raw.Peek(1); errors.Is(err, io.EOF) {
		s.end = true
		return nil
	}
	z, err := gzip.NewReader(s.raw)
	if err == nil {
		z.Multistream(false)
		s.r = z
	}
	return err
}

// damage looks for the next member and returns the error for what cannot be read.
func (s *salvage) damage(err error) error {
	if s.src.err != nil {
		s.end = true
		return fmt.Errorf("read %s: %w", s.src.Name, s.src.err)
	}
	found := &Damage{At: s.src.Seen, Err: err}
	s.r, s.end = nil, !s.gzip
	for !s.end {
		head, err := s.raw.Peek(min(s.raw.Size(), 4096))
		at := bytes.Index(head, []byte{0x1f, 0x8b, 8})
		switch {
		case at >= 0 && at+4 <= len(head) && head[at+3] < 32: // known flags
			_, _ = s.raw.Discard(at)
			return found
		case at >= 0 && at+4 <= len(head):
			_, _ = s.raw.Discard(at + 3)
		case err != nil: // the end
			s.end = true
		default:
			_, _ = s.raw.Discard(len(head) - 3)
		}
	}
	return found
}
