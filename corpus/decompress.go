package corpus

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// peekBytes is how much of a file is looked at to tell its compression and format.
const peekBytes = 64 << 10

// maxZstdWindow is what the zstd program accepts without --long=28 or more.
const maxZstdWindow = 128 << 20

// compression names a stream's compression by its first bytes; "" is none. Names are not looked at, for they are
// often wrong: downloads are unpacked on the way, or packed without a suffix.
func compression(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}), isSkippableFrame(head):
		return "zstd"
	case bytes.HasPrefix(head, []byte("\xfd7zXZ\x00")):
		return "xz"
	case isBzip2(head):
		return "bzip2"
	}
	return ""
}

// isSkippableFrame recognises zstd files that open with metadata, as pzstd and seekable zstd write them.
func isSkippableFrame(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18
}

// isBzip2 looks past "BZh9", which text can begin with, at the magic number of the first block or of the end.
func isBzip2(head []byte) bool {
	if len(head) < 4 || string(head[:3]) != "BZh" || head[3] < '1' || head[3] > '9' {
		return false
	}
	return bytes.HasPrefix(head[4:], []byte{0x31, 0x41, 0x59, 0x26, 0x53, 0x59}) ||
		bytes.HasPrefix(head[4:], []byte{0x17, 0x72, 0x45, 0x38, 0x50, 0x90})
}

// OpenDecompressed opens an input for a reader of another format than corpus has: its bytes, decompressed. An error of reading names the file.
func OpenDecompressed(in Input) (io.ReadCloser, error) {
	src, err := openSource(in)
	if err != nil {
		return nil, err
	}
	r, _, closeDecoder, err := decompressed(src)
	if err != nil {
		return nil, errors.Join(err, src.file.Close())
	}
	return &stream{r, src, closeDecoder}, nil
}

// stream is a decompressed file.
type stream struct {
	io.Reader
	src          *source
	closeDecoder func()
}

func (s *stream) Close() error {
	s.closeDecoder()
	return s.src.file.Close()
}

// decompressed returns src's text as it is read, and the name of its compression. Close releases the decoder, not src.
func decompressed(src *source) (r io.Reader, kind string, closeDecoder func(), err error) {
	raw := bufio.NewReaderSize(src, peekBytes)
	head, err := raw.Peek(16)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", nil, src.explain(err, "it")
	}
	closeDecoder = func() {}
	kind = compression(head)
	switch kind {
	case "":
		return raw, "", closeDecoder, nil
	case "gzip":
		r, err = gzip.NewReader(raw)
	case "zstd":
		var d *zstd.Decoder
		// One thread a file: the caller reads many files at once.
		d, err = zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err == nil {
			r, closeDecoder = d, d.Close
		}
	case "xz":
		tail := &tailReader{r: raw}
		if r, err = xz.NewReader(tail); err == nil {
			r = &xzStream{r, tail}
		}
	case "bzip2":
		r = bzip2.NewReader(raw)
	}
	if err != nil {
		return nil, "", nil, src.explain(err, "its "+kind+" data")
	}
	return &decoding{r, src, kind}, kind, closeDecoder, nil
}

// decoding turns a decoder's errors into sentences that name the file.
type decoding struct {
	r    io.Reader
	src  *source
	kind string
}

func (d *decoding) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = d.src.explain(err, "its "+d.kind+" data")
	}
	return n, err
}

// xzStream makes sure of the end: the xz package takes a file cut after a stream's header for one that ends there.
type xzStream struct {
	r    io.Reader
	tail *tailReader
}

func (x *xzStream) Read(p []byte) (int, error) {
	n, err := x.r.Read(p)
	if errors.Is(err, io.EOF) && x.tail.last != [2]byte{'Y', 'Z'} {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// tailReader keeps the last two bytes read that are not padding, which end every xz stream.
type tailReader struct {
	r    io.Reader
	last [2]byte
}

func (t *tailReader) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	switch b := bytes.TrimRight(p[:n], "\x00"); len(b) {
	case 0:
	case 1:
		t.last = [2]byte{t.last[1], b[0]}
	default:
		t.last = [2]byte(b[len(b)-2:])
	}
	return n, err
}
