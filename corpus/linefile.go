package corpus

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// Line is one line of a text file.
type Line struct {
	Number uint64 // line number from 1
	Text   string // text without its line end; empty if Reason is set
	Reason Reason // why it cannot be used: ReasonTooLong or ReasonNotUTF8; "" if it can
	Detail string // details of the error, for messages
}

// LineFile reads every line of a file, empty ones too, in constant memory, for a reader of a format that corpus does
// not have. It may be used by one goroutine. Close must be called last.
type LineFile struct {
	file  io.Closer
	lines *input.LineReader
	rec   record
}

// OpenLines opens an input, decompressed, whose lines have at most maxBytes bytes.
func OpenLines(in input.File, maxBytes int) (*LineFile, error) {
	f, err := input.OpenDecompressed(in)
	if err != nil {
		return nil, err
	}
	// The longest line and its line end must fit, or input.LineReader treats the line as too long.
	lines, err := input.NewLineReader(bufio.NewReaderSize(f, max(input.PeekBytes, maxBytes+len("\r\n"))), in.Path,
		maxBytes)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &LineFile{file: f, lines: lines}, nil
}

// Next returns the next line, or io.EOF after the last. A file without a line is a badinput error.
func (f *LineFile) Next() (Line, error) {
	text, excess, err := f.lines.Next()
	switch {
	case errors.Is(err, io.EOF) && f.lines.Number == 0:
		return Line{}, badinput.Errorf("%s: the file holds no line; give it content or name another", f.lines.Name)
	case err != nil:
		return Line{}, err
	}
	rec := &f.rec
	if rec.reset(f.lines.Number, excess, f.lines.Max) && !utf8.Valid(text) {
		rec.reason, rec.detail = ReasonNotUTF8, invalidAt(text)
	}
	line := Line{Number: rec.line, Reason: rec.reason, Detail: rec.detail}
	if line.Reason == "" {
		line.Text = string(text)
	}
	return line, nil
}

// Close closes the file.
func (f *LineFile) Close() error { return f.file.Close() }

// charset is the encoding of a name, as web pages have them; utf-16 looks at the byte order mark.
func charset(name string) (encoding.Encoding, error) {
	if strings.EqualFold(name, "utf-16") {
		return unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), nil
	}
	return htmlindex.Get(name)
}

// decoded reads text in an encoding as UTF-8.
func decoded(from io.Reader, name string) (io.Reader, error) {
	of, err := charset(name)
	if err != nil {
		return nil, err
	}
	return transform.NewReader(from, of.NewDecoder()), nil
}

// charsets are the encodings that text in UTF-8's place is in, those first that are not told from a later one by their
// bytes.
var charsets = []string{
	"windows-1252", "windows-1250", "windows-1251", "koi8-r", "windows-1253", "windows-1254", "windows-1255",
	"windows-1256", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr",
}

// GuessCharset returns the encoding in which text that is not UTF-8 is most likely, by a function that says how much of
// a text is in its language; empty: in none.
func GuessCharset(text []byte, inLanguage func(text string) float64) (best string) {
	most := 0.0
	for _, name := range charsets {
		of, err := charset(name)
		if err != nil {
			continue
		}
		utf8, err := of.NewDecoder().Bytes(text)
		if err != nil {
			continue
		}
		wrong := 0
		for _, r := range string(utf8) {
			if r == '\ufffd' || r < ' ' && r != '\n' && r != '\r' && r != '\t' || r >= 0x80 && r < 0xa0 {
				wrong++
			}
		}
		if share := inLanguage(string(utf8)) - float64(wrong)/float64(len(utf8)+1); share > most {
			best, most = name, share
		}
	}
	return best
}
