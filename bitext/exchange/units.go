package exchange

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

const (
	// maxUnitBytes is the maximum length of a translation unit, and of anything between two units: of the header, a
	// comment, white space. A unit of the European Parliament's in 24 languages has some 20 KB.
	maxUnitBytes = 1 << 20
	// maxDepth is the maximum depth of elements. TMX's own are seven deep, without inline markup inside inline markup.
	maxDepth = 64
)

// units reads the translation units of XML, TMX's and XLIFF's. What it holds at a time is a unit at most.
type units struct {
	file   io.Closer
	name   string
	in     *allowance
	xml    *xml.Decoder
	depth  int    // element depth around the next unit
	number uint64 // number of the last unit, from 1
}

// openUnits opens an input, of which through, if it is not nil, says what is read.
func openUnits(in input.File, through func(io.Reader) io.Reader) (*units, error) {
	f, err := input.OpenDecompressed(in)
	if err != nil {
		return nil, err
	}
	from := io.Reader(f)
	if through != nil {
		from = through(f)
	}
	u, err := newUnits(f, from, in.Path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return u, nil
}

func newUnits(file io.Closer, from io.Reader, name string) (*units, error) {
	u := &units{file: file, name: name, in: &allowance{from: from, left: maxUnitBytes}}
	buffered := bufio.NewReaderSize(u.in, 64<<10)
	// A read error comes again.
	if head, _ := buffered.Peek(2); string(head) == "\xff\xfe" || string(head) == "\xfe\xff" {
		return nil, badinput.Errorf("%s is UTF-16: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8), its first line too",
			name)
	}
	u.xml = xml.NewDecoder(buffered)
	u.xml.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) { return nil, charsetError(charset) }
	return u, nil
}

// seek reads to the start of the next unit, an element of one of the names; io.EOF says that there is none. between is
// called with the starts of the elements before it.
func (u *units) seek(between func(xml.StartElement), names ...string) error {
	for {
		u.in.left = maxUnitBytes
		token, err := u.xml.Token()
		if err != nil {
			return u.explain(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if slices.Contains(names, t.Name.Local) {
				u.number++
				return nil
			}
			if u.depth++; u.depth > maxDepth {
				return u.explain(errTooDeep)
			}
			between(t)
		case xml.EndElement:
			u.depth--
		}
	}
}

// Close implements Reader.
func (u *units) Close() error { return u.file.Close() }

// markup are the inline elements that hold native formatting codes; the others hold text.
var markup = map[string]bool{"bpt": true, "ept": true, "ph": true, "it": true, "ut": true}

// content is the text of an element, without native codes.
type content struct {
	at    int // depth of the element; 0: none is being read
	skip  int // depth of the markup that is left out; 0: none
	build strings.Builder
}

// begin starts the text of an element at a depth.
func (c *content) begin(depth int) {
	c.at = depth
	c.build.Reset()
}

func (c *content) start(depth int, name string) {
	if c.at > 0 && c.skip == 0 && markup[name] {
		c.skip = depth
	}
}

func (c *content) add(text []byte) {
	if c.at > 0 && c.skip == 0 {
		c.build.Write(text)
	}
}

// end returns the text if the element that ends is the one that begin was called for.
func (c *content) end(depth int) (text string, whole bool) {
	switch {
	case depth == c.skip:
		c.skip = 0
	case depth == c.at:
		c.at = 0
		return strings.TrimSpace(c.build.String()), true
	}
	return "", false
}

var (
	errTooLong = errors.New("too long")
	errTooDeep = errors.New("too deep")
)

type charsetError string

func (c charsetError) Error() string { return "encoding " + string(c) }

// explain adds the file's name and advice to an error.
func (u *units) explain(err error) error {
	var charset charsetError
	switch {
	case err == nil || err == io.EOF: //nolint:errorlint // the end of the file itself, not an error that wraps it
		return err
	case errors.Is(err, errTooLong):
		return badinput.Errorf(
			"%s: translation unit %d, or what is before it, is longer than %d bytes: divide it or remove it",
			u.name, max(1, u.number), maxUnitBytes)
	case errors.Is(err, errTooDeep):
		return badinput.Errorf(
			"%s: translation unit %d, or what is before it, has elements more than %d deep: mend the file",
			u.name, max(1, u.number), maxDepth)
	case errors.As(err, &charset):
		return badinput.Errorf("%s is in the encoding %s: convert it to UTF-8, its first line too", u.name,
			string(charset))
	case u.in.err != nil:
		return fmt.Errorf("read %s: %w", u.name, u.in.err)
	}
	return badinput.Errorf("%s is not well-formed XML (%w): mend the file", u.name, err)
}

// allowance reads no more than what is left, so that no token takes more memory than that.
type allowance struct {
	from io.Reader
	left int
	err  error // read error other than the end of the file
}

func (a *allowance) Read(p []byte) (int, error) {
	if a.left <= 0 {
		return 0, errTooLong
	}
	n, err := a.from.Read(p[:min(len(p), a.left)])
	a.left -= n
	if err != nil && !errors.Is(err, io.EOF) {
		a.err = err
	}
	return n, err
}
