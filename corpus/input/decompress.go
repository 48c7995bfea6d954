package input

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
	"github.com/ulikunitz/xz/lzma"

	"bitextmine/internal/badinput"
)

// PeekBytes is the number of bytes that are examined to detect a file's compression and format.
const PeekBytes = 64 << 10

// noBzip2 is the error of bytes behind a bzip2 stream that begin no other.
const noBzip2 = bzip2.StructuralError("bad magic value in continuation file")

// maxZstdWindow is the largest window that the zstd program accepts without --long=28 or more.
const maxZstdWindow = 128 << 20

// compression detects a stream's compression from its first bytes; "" means none. File names are not used because they
// are often wrong: downloads may be unpacked on the way, or compressed without a suffix.
func compression(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(head, zstdFrame), isSkippableFrame(head):
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
		r, err = newMembers(raw)
	case "zstd":
		var d *zstd.Decoder
		from := &counted{Reader: raw}
		if d, err = openZstd(from, head); err == nil {
			r = &padded{d, from, len(zstdFrame), func(err error) bool { return errors.Is(err, zstd.ErrMagicMismatch) }}
			closeDecoder = d.Close
		}
	case "xz":
		r, err = newXZ(raw, s.Name)
	case "bzip2":
		from := &counted{Reader: raw}
		r = &padded{bzip2.NewReader(from), from, len("BZ"), func(err error) bool { return errors.Is(err, noBzip2) }}
	}
	if err != nil {
		return nil, "", nil, s.Explain(err, "its "+kind+" data")
	}
	if s.Salvage {
		return &salvage{src: s, raw: raw, r: r}, kind, closeDecoder, nil
	}
	return &decoding{r, s, kind}, kind, closeDecoder, nil
}

// maxZstdDictionary is the largest dictionary that is read, before and after it is decompressed.
const maxZstdDictionary = 16 << 20

var zstdDictionary, zstdFrame = []byte{0x37, 0xa4, 0x30, 0xec}, []byte{0x28, 0xb5, 0x2f, 0xfd}

// openZstd opens zstd data, of which head is the beginning. Web archives may begin with a skippable frame that holds
// the dictionary of their records, which may be compressed itself (iipc.github.io/warc-specifications, WARC-zstd).
func openZstd(raw io.Reader, head []byte) (*zstd.Decoder, error) {
	// One thread per file: the caller reads many files at once.
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow)}
	if len(head) < 8 || !bytes.HasPrefix(head, []byte{0x5d, 0x2a, 0x4d, 0x18}) {
		return zstd.NewReader(raw, options...)
	}
	size := binary.LittleEndian.Uint32(head[4:])
	if size > maxZstdDictionary {
		return zstd.NewReader(raw, options...) // which passes over the frame
	}
	frame := make([]byte, 8+size)
	if _, err := io.ReadFull(raw, frame); err != nil {
		return nil, err
	}
	dictionary := frame[8:]
	if bytes.HasPrefix(dictionary, zstdFrame) {
		d, err := zstd.NewReader(bytes.NewReader(dictionary), options...)
		if err != nil {
			return nil, err
		}
		dictionary, err = io.ReadAll(io.LimitReader(d, maxZstdDictionary))
		d.Close()
		if err != nil {
			return nil, err
		}
	}
	if bytes.HasPrefix(dictionary, zstdDictionary) {
		options = append(options, zstd.WithDecoderDicts(dictionary))
	}
	return zstd.NewReader(raw, options...)
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

const (
	// maxXZDictionary is the dictionary of xz -9. The decoder allocates what a block's header asks for: up to 4 GiB.
	maxXZDictionary = 64 << 20
	// maxBlockHeader is the length of the longest header of a block.
	maxBlockHeader = 1024

	streamHeaderBytes = 12
	footerBytes       = 12
)

// xzParts passes the bytes of an xz file on to the decoder, one part of the container at a time
// (https://tukaani.org/xz/xz-file-format.txt). It sees each block's header before the decoder does, and refuses large
// dictionaries. It also refuses a file that ends inside a stream, which the decoder accepts after a stream's header.
type xzParts struct {
	r     *bufio.Reader
	name  string // the file's, for errors
	left  int    // bytes of this part that were not passed on
	next  func() error
	check int // bytes of a block's checksum
	size  int // bytes of the block's data, or of the index, so far
	count int // integers of the index that follow
}

// newXZ returns the content of an xz file. The buffer of r must hold maxBlockHeader bytes.
func newXZ(r *bufio.Reader, name string) (io.Reader, error) {
	x := &xzParts{r: r, name: name}
	x.next = x.stream
	// What a header asks for is the dictionary: not 8 MiB for every small block.
	return xz.ReaderConfig{DictCap: lzma.MinDictCap}.NewReader(x)
}

func (x *xzParts) Read(p []byte) (int, error) {
	for x.left == 0 {
		if err := x.next(); err != nil {
			return 0, err
		}
	}
	n, err := x.r.Read(p[:min(len(p), x.left)])
	x.left -= n
	return n, inside(err)
}

// inside is the error for one inside a part: the file's end is too early there.
func inside(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// peek returns the next n bytes, or those that there are.
func (x *xzParts) peek(n int) ([]byte, error) {
	head, err := x.r.Peek(n)
	if len(head) == 0 {
		return nil, inside(err)
	}
	return head, nil
}

// stream is at a stream's header, padding between streams, or the end of the file.
func (x *xzParts) stream() error {
	head, err := x.r.Peek(streamHeaderBytes)
	if len(head) == 0 {
		return err
	}
	if head[0] == 0 {
		x.left = min(4, len(head))
		return nil
	}
	if len(head) < streamHeaderBytes {
		return io.ErrUnexpectedEOF
	}
	// The kinds of check come in threes of one length: 4, 8, 16, 32 and 64 bytes.
	if kind := head[7] & 15; kind > 0 {
		x.check = 4 << ((kind - 1) / 3)
	} else {
		x.check = 0
	}
	x.left, x.next = streamHeaderBytes, x.block
	return nil
}

// block is at the header of a block or at the index.
func (x *xzParts) block() error {
	head, err := x.peek(maxBlockHeader)
	if err != nil {
		return err
	}
	if head[0] == 0 {
		x.left, x.size, x.next = 1, 1, x.records
		return nil
	}
	x.left, x.size, x.next = (int(head[0])+1)*4, 0, x.chunk
	if len(head) < x.left {
		return io.ErrUnexpectedEOF
	}
	at := 2
	for _, bit := range []byte{0x40, 0x80} { // the sizes, packed and unpacked
		if head[1]&bit != 0 {
			_, n := binary.Uvarint(head[at:])
			at += max(n, 0)
		}
	}
	// The decoder refuses what follows unless it is LZMA2 with one byte of properties.
	if at += 2; at < x.left {
		if size, err := lzma.DecodeDictCap(head[at]); err == nil && size > maxXZDictionary {
			return badinput.Errorf("%s: its xz dictionary has %d MiB, more than the %d that are read; pack it again with xz -9",
				x.name, size>>20, maxXZDictionary>>20)
		}
	}
	return nil
}

// chunk is at a chunk of LZMA2 data.
func (x *xzParts) chunk() error {
	head, err := x.peek(6)
	if err != nil {
		return err
	}
	control := head[0]
	var n int
	switch {
	case control == 0:
		n = 1
		padding := -(x.size + n) & 3
		x.next = func() error { x.left, x.next = padding+x.check, x.block; return nil }
	case len(head) < 6:
		return io.ErrUnexpectedEOF
	case control < 0x80:
		n = 3 + int(binary.BigEndian.Uint16(head[1:])) + 1
	default:
		n = 5 + int(binary.BigEndian.Uint16(head[3:])) + 1
		if control >= 0xc0 {
			n++
		}
	}
	x.left = n
	x.size += n
	return nil
}

// records is at the number of records in the index.
func (x *xzParts) records() error {
	head, err := x.peek(binary.MaxVarintLen64)
	if err != nil {
		return err
	}
	records, n := binary.Uvarint(head)
	x.left, x.count, x.next = max(n, 1), int(2*min(records, 1<<40)), x.record
	x.size += x.left
	return nil
}

// record is at an integer of the index, or after the last.
func (x *xzParts) record() error {
	if x.count == 0 {
		padding, sum := -x.size&3, 4
		x.left, x.next = padding+sum+footerBytes, x.stream
		return nil
	}
	head, err := x.peek(binary.MaxVarintLen64)
	if err != nil {
		return err
	}
	_, n := binary.Uvarint(head)
	x.left = max(n, 1)
	x.size += x.left
	x.count--
	return nil
}
