package input

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"errors"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// PeekBytes is the number of bytes that are examined to detect a file's compression and format.
const PeekBytes = 64 << 10

// maxZstdWindow is the largest window that the zstd program accepts without --long=28 or more.
const maxZstdWindow = 128 << 20

// compression detects a stream's compression from its first bytes; "" means none. File names are not used because they
// are often wrong: downloads may be unpacked on the way, or compressed without a suffix.
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

// isSkippableFrame recognises zstd files that begin with metadata, as pzstd and seekable zstd write them.
func isSkippableFrame(head []byte) bool {
	return len(head) >= 4 && head[0]&0xf0 == 0x50 && head[1] == 0x2a && head[2] == 0x4d && head[3] == 0x18
}

// isBzip2 checks "BZh9", which text can begin with too, and after it the magic number of the first block or of the end.
func isBzip2(head []byte) bool {
	if len(head) < 4 || string(head[:3]) != "BZh" || head[3] < '1' || head[3] > '9' {
		return false
	}
	return bytes.HasPrefix(head[4:], []byte{0x31, 0x41, 0x59, 0x26, 0x53, 0x59}) ||
		bytes.HasPrefix(head[4:], []byte{0x17, 0x72, 0x45, 0x38, 0x50, 0x90})
}

// OpenDecompressed opens an input, decompressed, for a reader of a format that corpus does not have. Read errors name
// the file.
func OpenDecompressed(in File) (io.ReadCloser, error) {
	src, err := Open(in)
	if err != nil {
		return nil, err
	}
	r, _, closeDecoder, err := src.Decompress()
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	return &stream{r, src, closeDecoder}, nil
}

// stream is a decompressed file.
type stream struct {
	io.Reader
	src          *Source
	closeDecoder func()
}

func (s *stream) Close() error {
	s.closeDecoder()
	return s.src.Close()
}

// Decompress returns the decompressed content of src and the name of its compression, "" if it has none. closeDecoder
// releases the decoder but not src.
func (s *Source) Decompress() (r io.Reader, kind string, closeDecoder func(), err error) {
	raw := bufio.NewReaderSize(s, PeekBytes)
	head, err := raw.Peek(16)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", nil, s.Explain(err, "it")
	}
	closeDecoder = func() {}
	kind = compression(head)
	if s.Salvage && kind == "gzip" {
		return &salvage{src: s, raw: raw, gzip: true}, kind, closeDecoder, nil
	}
	switch kind {
	case "":
		return raw, "", closeDecoder, nil
	case "gzip":
		r, err = gzip.NewReader(raw)
	case "zstd":
		var d *zstd.Decoder
		// One thread per file: the caller reads many files at once.
		d, err = zstd.NewReader(raw, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
		if err == nil {
			r, closeDecoder = d, d.Close
		}
	case "xz":
		r, err = newXZ(raw, s.Name)
	case "bzip2":
		r = bzip2.NewReader(raw)
	}
	if err != nil {
		return nil, "", nil, s.Explain(err, "its "+kind+" data")
	}
	if s.Salvage {
		return &salvage{src: s, raw: raw, r: r}, kind, closeDecoder, nil
	}
	return &decoding{r, s, kind}, kind, closeDecoder, nil
}

// decoding adds the file's name to a decoder's errors.
type decoding struct {
	r    io.Reader
	src  *Source
	kind string
}

func (d *decoding) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = d.src.Explain(err, "its "+d.kind+" data")
	}
	return n, err
}
