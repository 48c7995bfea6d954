// Package page reads documents that are not lines: pages of HTML, records of web archives (WARC, WET), chapters of EPUB
// books and manual pages. It gives their text, a paragraph on each line, and what they say of themselves.
//
// The text of a page of HTML is its main text, without menus, footers and advertisements, as go-trafilatura finds it.
package page

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/gogs/chardet"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/htmlindex"

	"bitextmine/internal/badinput"
)

// MaxBytes is the maximum size of a page, before and after it is decoded. A larger one is counted and passed over.
const MaxBytes = 16 << 20

// Page is a document.
type Page struct {
	Number  uint64            // place in the file, from 1; in archives of all records
	Text    string            // paragraphs, a line each
	Doc     string            // its name where the file has several; may be empty
	URL     string            // may be empty
	Columns map[string]string // values by Columns; missing ones are empty

	Skip   Skip   // why it has no text to use; "" if it has
	Detail string // part of messages
}

// Columns are the names of what is known of a page beside its text: its title; the language that it says it is in; the
// first address of those that it names as its translations and its own, which is the same for all of them; the mark of
// a program that translates pages (gtranslate, weglot, wpml ...); noai if its owner wants no use for training; the
// program that made it; and the encoding of its characters.
var Columns = []string{"title", "lang", "alternates", "machine", "noai", "generator", "charset"}

// Skip is why a page is passed over.
type Skip string

// The reasons, as package corpus counts them.
const (
	Empty     Skip = "empty"     // no text of its own, or no page: an image, an error
	TooLong   Skip = "too_long"  // more than MaxBytes
	Malformed Skip = "malformed" // cannot be parsed
	NotUTF8   Skip = "not_utf8"  // no encoding fits
	Damaged   Skip = "damaged"   // part of an archive that is cut off or corrupt
)

// Reader reads pages in order. Next returns io.EOF after the last; any other error ends the file. It may be used by one
// goroutine.
type Reader interface{ Next() (*Page, error) }

// whole reads all of a file that is one document; tooLong says that it has more than MaxBytes.
func whole(from io.Reader) (data []byte, tooLong bool, err error) {
	data, err = io.ReadAll(io.LimitReader(from, MaxBytes+1))
	return data, len(data) > MaxBytes, err
}

// one is the reader of a file that is one page.
type one struct {
	in   io.Reader
	make func(data []byte) *Page
	done bool
}

func (o *one) Next() (*Page, error) {
	if o.done {
		return nil, io.EOF
	}
	o.done = true
	data, tooLong, err := whole(o.in)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	p := &Page{Skip: TooLong, Detail: "more than 16 MiB"}
	if !tooLong {
		p = o.make(data)
	}
	p.Number = 1
	return p, nil
}

// NewHTML reads a file of HTML.
func NewHTML(in io.Reader) Reader {
	return &one{in: in, make: func(data []byte) *Page { return fromHTML(data, "", "") }}
}

// NewMan reads a manual page in the source of troff (man or mdoc).
func NewMan(in io.Reader) Reader { return &one{in: in, make: fromMan} }

// guard turns a panic of a library into a page that is passed over: no page may end a run.
func guard(p *Page, work func() error) {
	defer func() {
		if r := recover(); r != nil {
			p.Text, p.Skip, p.Detail = "", Malformed, "it cannot be parsed"
		}
	}()
	if err := work(); err != nil {
		p.Text, p.Skip, p.Detail = "", Malformed, err.Error()
	}
}

// cutOff is the error for an archive without its end.
func cutOff(name string, record uint64, what error) error {
	return badinput.Errorf("%s: record %d of the archive is cut off or damaged (%v); fetch the file again, or have the rest of the archive read with --on-bad-file skip",
		name, record, what)
}

const (
	// maxWrong is the share of a page's characters beyond ASCII that may be wrong in the encoding it is read in.
	maxWrong = 0.05
	// maxForeign is the share of a page's bytes beyond ASCII from which no single-byte encoding of Latin letters is
	// believed.
	maxForeign = 0.3
)

// decode returns a page as UTF-8, with the name of its encoding: that of the byte order mark, the server, the page, or
// what its bytes look like. A page that is valid UTF-8 is in UTF-8 whatever it says, and an encoding in which many
// characters are wrong is not believed; then the name says so, as in "koi8-r, not windows-1252". ok is false if no
// encoding fits.
func decode(data []byte, contentType string) (text, name string, ok bool) {
	of, name, _ := charset.DetermineEncoding(data[:min(len(data), 1024)], contentType)
	wide := strings.HasPrefix(name, "utf-16") || strings.HasPrefix(name, "iso-2022")
	if !wide && utf8.Valid(data) {
		said := ""
		if name != "utf-8" && name != "windows-1252" { // windows-1252 may also mean that none was named
			said = lie("utf-8", name)
		}
		return string(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))), strings.TrimSpace("utf-8" + said), true
	}
	if name == "utf-8" {
		text = string(bytes.ToValidUTF8(data, []byte("\ufffd")))
	} else if decoded, err := of.NewDecoder().Bytes(data); err == nil {
		text = string(decoded)
	}
	wrong := wrongShare(text)
	if wrong == 0 && (wide || !latin(name) || foreign(data) < maxForeign) {
		return text, name, true
	}
	found, err := chardet.NewHtmlDetector().DetectBest(data)
	if err == nil {
		if of, err := htmlindex.Get(strings.ToLower(found.Charset)); err == nil {
			other, _ := htmlindex.Name(of)
			if decoded, err := of.NewDecoder().Bytes(data); err == nil && other != name {
				if w := wrongShare(string(decoded)); w < wrong || w == 0 {
					return string(decoded), other + lie(other, name), w <= maxWrong
				}
			}
		}
	}
	return text, name, text != "" && wrong <= maxWrong
}

func lie(found, named string) string {
	if found == named {
		return ""
	}
	return ", not " + named
}

func latin(name string) bool {
	return strings.HasPrefix(name, "windows-125") || strings.HasPrefix(name, "iso-8859-")
}

// foreign is the share of letters beyond ASCII among a page's letters, tags apart.
func foreign(data []byte) float64 {
	beyond, all, tag := 0, 0, false
	for _, b := range data {
		switch {
		case b == '<':
			tag = true
		case b == '>':
			tag = false
		case tag:
		case b >= 0x80:
			beyond, all = beyond+1, all+1
		case b|0x20 >= 'a' && b|0x20 <= 'z':
			all++
		}
	}
	return float64(beyond) / float64(max(all, 1))
}

// wrongShare is the share of replacement and control characters among those beyond ASCII.
func wrongShare(text string) float64 {
	wrong, all := 0, 0
	for _, r := range text {
		if r >= 0x80 {
			all++
			if r == '\ufffd' || r < 0xa0 {
				wrong++
			}
		}
	}
	return float64(wrong) / float64(max(all, 1))
}
