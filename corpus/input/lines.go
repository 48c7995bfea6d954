package input

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"

	"bitextmine/internal/badinput"
)

// LineReader cuts a stream into lines in constant memory: a line longer than Max is skipped without being stored.
type LineReader struct {
	Name   string // file name for messages
	Max    int    // longest line in bytes, without its line end
	Number uint64 // number of the line returned last, from 1
	br     *bufio.Reader
}

// UTF8BOM is the byte order mark of UTF-8, which NewLineReader skips.
var UTF8BOM = []byte("\xef\xbb\xbf")

var (
	utf16LE = []byte("\xff\xfe")
	utf16BE = []byte("\xfe\xff")
)

// CheckLongest refuses a bound of the bytes of a line that none fits, or that memory may not.
func CheckLongest(bytes int) error {
	if bytes < 1 || bytes > 1<<30 {
		return badinput.Errorf("max_line_bytes is %d, choose a number from 1 to %d", bytes, 1<<30)
	}
	return nil
}

// OpenLines opens an input, decompressed, whose lines have at most longest bytes. The file must be closed last.
func OpenLines(in File, longest int) (*LineReader, io.Closer, error) {
	if err := CheckLongest(longest); err != nil {
		return nil, nil, err
	}
	f, err := OpenDecompressed(in)
	if err != nil {
		return nil, nil, err
	}
	lines, err := NewLineReader(bufio.NewReaderSize(f, max(PeekBytes, longest+len("\r\n"))), in.Path, longest)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return lines, f, nil
}

// NewLineReader needs a buffered reader of at least max+2 bytes, for the longest line and its line end.
func NewLineReader(br *bufio.Reader, name string, max int) (*LineReader, error) {
	head, err := br.Peek(min(br.Size(), 4096))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if kind := binaryKind(head); kind.name != "" {
		return nil, badinput.Errorf("%s is %s and no text; %s", name, kind.name, cmp.Or(kind.advice, "give the text in it as a file of lines"))
	}
	switch wide := utf16Of(head); {
	case wide != "":
		return nil, badinput.Errorf("%s: the text is UTF-16; convert it to UTF-8 (iconv -f %s -t UTF-8), or, for mine run, name --encoding %s", name,
			strings.ToUpper(wide), wide)
	case bytes.HasPrefix(head, UTF8BOM):
		if _, err := br.Discard(len(UTF8BOM)); err != nil {
			return nil, err
		}
	}
	if endsInCR(head) {
		if head, _ = br.Peek(min(br.Size(), PeekBytes)); endsInCR(head) {
			return nil, CRError(name)
		}
	}
	return &LineReader{Name: name, Max: max, br: br}, nil
}

// endsInCR reports whether lines end in CR alone, as far as is known: several do, and none in LF.
func endsInCR(head []byte) bool {
	return bytes.Count(head, []byte("\r")) > 1 && bytes.IndexByte(head, '\n') < 0
}

// CRError is the error for lines that end in CR alone.
func CRError(name string) error {
	return badinput.Errorf("%s: its lines end in CR alone: save it with other line ends (tr '\\r' '\\n')", name)
}

// foreign is a kind of file that lies among text by mistake, and what to do with it; empty: its text is to be given.
type foreign struct{ name, advice string }

const (
	arrowAdvice  = "write it as Parquet: pyarrow.parquet.write_table(pyarrow.feather.read_table(FILE), 'text.parquet')"
	streamAdvice = "write it as Parquet: datasets.load_from_disk(FOLDER).to_parquet('text.parquet'), of a dictionary of splits one of them"
)

// binaryKinds are kinds by their first bytes.
var binaryKinds = []struct {
	head string
	kind foreign
}{
	{"%PDF-", foreign{name: "a PDF"}}, {"PK\x03\x04", foreign{name: "a ZIP archive or an office document"}},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", foreign{name: "an office document"}},
	{"{\\rtf", foreign{name: "an RTF document"}}, {"7z\xbc\xaf\x27\x1c", foreign{name: "a 7-Zip archive"}},
	{"Rar!\x1a\x07", foreign{name: "a RAR archive"}}, {"\x89PNG\r\n", foreign{name: "an image"}}, {"\xff\xd8\xff", foreign{name: "an image"}},
	{"GIF8", foreign{name: "an image"}}, {"\x7fELF", foreign{name: "a program"}},
	{"ARROW1\x00\x00", foreign{"an Arrow file", arrowAdvice}}, {"FEA1", foreign{"an Arrow file", arrowAdvice}},
	{"\x04\x22\x4d\x18", foreign{"compressed with LZ4", "decompress it (lz4 -d), or compress it with gzip, zstd, xz or bzip2"}},
	{"\x5d\x00\x00", foreign{"compressed with LZMA", "decompress it (xz -d --format=lzma), or compress it with gzip, zstd, xz or bzip2"}},
}

// tarMagic stands behind the first name and its numbers.
const tarMagic, tarMagicAt = "ustar", 257

// binaryKind is the kind of a file by its head, the zero value for text.
func binaryKind(head []byte) foreign {
	switch {
	case bytes.HasPrefix(head[min(tarMagicAt, len(head)):], []byte(tarMagic)) && bytes.IndexByte(head[:tarMagicAt], 0) >= 0:
		return foreign{name: "a tar archive"}
	case isArrowStream(head):
		return foreign{"a stream of Arrow, as Hugging Face's save_to_disk writes it,", streamAdvice}
	}
	for _, known := range binaryKinds {
		if bytes.HasPrefix(head, []byte(known.head)) {
			return known.kind
		}
	}
	return foreign{}
}

// isArrowStream recognises the first message of Arrow's IPC stream: a mark and the length of the schema, a multiple of
// eight below 16 MiB.
func isArrowStream(head []byte) bool {
	return len(head) >= 8 && bytes.HasPrefix(head, []byte("\xff\xff\xff\xff")) && head[4]%8 == 0 && head[7] == 0
}

// utf16Of is the name of the UTF-16 that a text is in; empty: it is in another encoding.
func utf16Of(head []byte) string {
	if bytes.HasPrefix(head, utf16LE) || bytes.HasPrefix(head, utf16BE) {
		return "utf-16"
	}
	var nul [2]int
	for i, b := range head {
		if b == 0 {
			nul[i%2]++
		}
	}
	switch {
	case isUTF16(head, nul[0], nul[1], "utf-16be"):
		return "utf-16be"
	case isUTF16(head, nul[1], nul[0], "utf-16le"):
		return "utf-16le"
	}
	return ""
}

// isUTF16 recognises UTF-16 of one byte order without its mark by how many of the high bytes, which are NUL in ASCII,
// and of the low ones are NUL. Either a quarter of the high ones are, which leaves room for other scripts between the
// spaces, and hardly any low one. Or, read so, it has lines and no character that text has not, but is no text as it
// stands: not UTF-8, or with NULs at high bytes alone.
func isUTF16(head []byte, high, low int, name string) bool {
	if half := len(head) / 2; half >= 4 && high >= half/4 && low <= half/16 {
		return true
	}
	invalid := bytes.IndexRune(head, utf8.RuneError) // the last character may be cut off
	if high == 0 || (invalid < 0 || invalid > len(head)-utf8.UTFMax) && (high < 8 || low > 0) {
		return false
	}
	text, ok := inUTF8(head[:len(head)&^1], name)
	strange := strings.IndexFunc(strings.TrimSuffix(text, "\ufffd"), func(r rune) bool { // half of a pair may end it
		return r == utf8.RuneError || !unicode.IsGraphic(r) && !unicode.In(r, unicode.Cf, unicode.Co) && !strings.ContainsRune("\t\r\n", r)
	})
	return ok && strange < 0 && strings.Contains(text, "\n")
}

// Next returns a line without its LF or CRLF, valid until the next call, or io.EOF after the last line. If the line is
// longer than Max, line is nil and excess is its length in bytes.
func (l *LineReader) Next() (line []byte, excess int64, err error) {
	line, err = l.br.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		l.Number++
		excess, err = l.skipLine(int64(len(line)))
		return nil, excess, err
	}
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = nil // the last line may have no line end
	}
	if err != nil {
		return nil, 0, err
	}
	l.Number++
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if len(line) > l.Max {
		return nil, int64(len(line)), nil
	}
	return line, 0, nil
}

// skipLine reads to the end of a line of which seen bytes were read. It returns the length of the line.
func (l *LineReader) skipLine(seen int64) (int64, error) {
	for {
		part, err := l.br.ReadSlice('\n')
		seen += int64(len(part))
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return seen, nil
		case err != nil:
			return 0, err
		}
		return seen - 1, nil
	}
}

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
	r    io.Reader // the open member's; nil: none is open
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
	return 0, s.ended()
}

// ended is io.EOF, or the read error that has ended it.
func (s *salvage) ended() error {
	if s.src.err != nil {
		return fmt.Errorf("read %s: %w", s.src.Name, s.src.err)
	}
	return io.EOF
}

// open opens the next member.
func (s *salvage) open() error {
	head, err := s.raw.Peek(1)
	if errors.Is(err, io.EOF) {
		s.end = true
		return nil
	}
	if len(head) > 0 && head[0] == 0 { // zeros at the end, as members ignores them
		if err := onlyZeros(s.raw, gzip.ErrHeader); !errors.Is(err, io.EOF) {
			_ = s.raw.UnreadByte() // the next member may begin with it
			return err
		}
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
		return s.ended()
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
