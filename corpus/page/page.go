// Package page reads documents that are not lines: pages of HTML, records of web archives (WARC, WET), chapters of EPUB
// books and manual pages. It gives their text, a paragraph on each line, and what they say of themselves.
//
// The text of a page of HTML is its main text, without menus, footers and advertisements, as go-trafilatura finds it.
package page

import (
	"errors"
	"io"
	"unicode/utf8"

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

// Beginning is the whole characters in the first bytes of a value, at most n.
func Beginning(value string, n int) string {
	if len(value) <= n {
		return value
	}
	for n > 0 && !utf8.RuneStart(value[n]) {
		n--
	}
	return value[:n]
}

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
