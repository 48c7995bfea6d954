package page

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"bitextmine/internal/badinput"
)

// maxEntries is how many files a book may have.
const maxEntries = 20_000

// epub reads the chapters of a book in their order.
type epub struct {
	files    map[string]*zip.File
	chapters []string // names of files
	language string
	title    string
	at       int
}

// LooksEPUB reports whether a file begins as books in EPUB do.
func LooksEPUB(head []byte) bool {
	return bytes.HasPrefix(head, []byte("PK\x03\x04")) && len(head) > 58 && string(head[30:58]) == "mimetypeapplication/epub+zip"
}

// opf is the part of a book's description that is read.
type opf struct {
	Languages []string `xml:"metadata>language"` // the first is the main one, as is the first title
	Titles    []string `xml:"metadata>title"`
	Items     []struct {
		ID   string `xml:"id,attr"`
		Href string `xml:"href,attr"`
		Type string `xml:"media-type,attr"`
	} `xml:"manifest>item"`
	Order []struct {
		ID string `xml:"idref,attr"`
	} `xml:"spine>itemref"`
}

// NewEPUB opens a book.
func NewEPUB(in io.ReaderAt, size int64, name string) (Reader, error) {
	broken := func(what error) error {
		return badinput.Errorf("%s: the book cannot be read (%v); fetch the file again", name, what)
	}
	archive, err := zip.NewReader(in, size)
	if err != nil {
		return nil, broken(err)
	}
	if len(archive.File) > maxEntries {
		return nil, broken(fmt.Errorf("it has %d files, at most %d are read", len(archive.File), maxEntries))
	}
	e := &epub{files: map[string]*zip.File{}}
	for _, f := range archive.File {
		e.files[f.Name] = f
	}
	var container struct {
		Roots []struct {
			Path string `xml:"full-path,attr"`
		} `xml:"rootfiles>rootfile"`
	}
	if err := e.xml("META-INF/container.xml", &container); err != nil {
		return nil, broken(err)
	}
	if len(container.Roots) == 0 {
		return nil, broken(errors.New("it names no description of itself"))
	}
	root, book := container.Roots[0].Path, opf{}
	if err := e.xml(root, &book); err != nil {
		return nil, broken(err)
	}
	e.language, e.title = first(book.Languages), first(book.Titles)
	of := map[string]string{}
	for _, item := range book.Items {
		if strings.Contains(item.Type, "html") {
			of[item.ID] = e.named(path.Dir(root), item.Href)
		}
	}
	for _, item := range book.Order {
		if of[item.ID] != "" {
			e.chapters = append(e.chapters, of[item.ID])
		}
	}
	return e, nil
}

// first is the first of some values; empty: there are none.
func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// named is the name of the file that a link of the book's description leads to.
func (e *epub) named(folder, href string) string {
	as := path.Join(folder, href)
	if name, err := url.PathUnescape(href); err == nil && e.files[as] == nil {
		return path.Join(folder, name)
	}
	return as
}

// read returns a file of the book.
func (e *epub) read(name string) (data []byte, tooLong bool, err error) {
	f := e.files[name]
	if f == nil {
		return nil, false, fmt.Errorf("it has no file %q", name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, false, err
	}
	data, tooLong, err = whole(r)
	return data, tooLong, errors.Join(err, r.Close())
}

func (e *epub) xml(name string, into any) error {
	data, tooLong, err := e.read(name)
	if err == nil && tooLong {
		err = fmt.Errorf("%s is too long", name)
	}
	if err != nil {
		return err
	}
	d := xml.NewDecoder(transform.NewReader(bytes.NewReader(data), unicode.BOMOverride(transform.Nop)))
	d.CharsetReader = func(label string, from io.Reader) (io.Reader, error) {
		if strings.HasPrefix(strings.ToLower(label), "utf-16") {
			return from, nil // this label could be read, so the byte order mark had it decoded
		}
		return charset.NewReaderLabel(label, from)
	}
	return d.Decode(into)
}

// Next returns the next chapter: its whole text, because a chapter has no menus.
func (e *epub) Next() (*Page, error) {
	if e.at == len(e.chapters) {
		return nil, io.EOF
	}
	name := e.chapters[e.at]
	e.at++
	p := &Page{Number: uint64(e.at), Columns: map[string]string{"lang": e.language, "title": e.title}}
	data, tooLong, err := e.read(name)
	switch {
	case err != nil:
		p.Skip, p.Detail = Damaged, err.Error()
		return p, nil
	case tooLong:
		p.Skip, p.Detail = TooLong, "a chapter of more than 16 MiB"
		return p, nil
	}
	guard(p, func() error {
		if bytes.Count(data, []byte("<")) > 2*maxTags {
			return fmt.Errorf("it has more than %d tags", maxTags)
		}
		text, _, ok := decode(data, "")
		if !ok {
			return errors.New("its characters are in no known encoding")
		}
		tree, err := html.Parse(strings.NewReader(withEnds(text)))
		if err == nil {
			p.Text = paragraphs(tree)
		}
		return err
	})
	if p.Skip == "" && p.Text == "" {
		p.Skip = Empty
	}
	return p, nil
}
