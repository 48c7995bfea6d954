package exchange

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"bitextmine/corpus"
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

// tmxReader reads translation units. What it holds at a time is a unit at most.
type tmxReader struct {
	file  io.ReadCloser
	name  string
	in    *allowance
	xml   *xml.Decoder
	depth int // element depth around the next unit
	units uint64
	at    int64 // offset of the children of the last unit read
	sides map[string]int
	langs [2]string
}

func openTMX(in input.File, opts Options) (_ *tmxReader, err error) {
	f, err := input.OpenDecompressed(in)
	if err != nil {
		return nil, err
	}
	r, err := newTMXReader(f, in.Path, opts)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return r, nil
}

func newTMXReader(f io.ReadCloser, name string, opts Options) (*tmxReader, error) {
	r := &tmxReader{
		file: f, name: name, in: &allowance{from: f, left: maxUnitBytes},
		sides: map[string]int{}, langs: [2]string{opts.SourceLanguage, opts.TargetLanguage},
	}
	buffered := bufio.NewReaderSize(r.in, 64<<10)
	// A read error comes again.
	if head, _ := buffered.Peek(2); string(head) == "\xff\xfe" || string(head) == "\xfe\xff" {
		return nil, badinput.Errorf("%s is UTF-16: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8), its first line too",
			name)
	}
	r.xml = xml.NewDecoder(buffered)
	r.xml.CharsetReader = func(charset string, _ io.Reader) (io.Reader, error) { return nil, charsetError(charset) }
	return r, nil
}

// Next implements Reader. A unit without one of the languages is malformed, and has the other's text.
func (r *tmxReader) Next() (Record, error) {
	for {
		r.in.left = maxUnitBytes
		token, err := r.xml.Token()
		if errors.Is(err, io.EOF) && r.units == 0 {
			return Record{}, badinput.Errorf("%s holds no translation unit: give a TMX file", r.name)
		}
		if err != nil {
			return Record{}, r.explain(err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if t.Name.Local == "tu" {
				r.units++
				r.at = r.xml.InputOffset()
				rec, err := r.unit()
				return rec, r.explain(err)
			}
			if r.depth++; r.depth > maxDepth {
				return Record{}, r.explain(errTooDeep)
			}
		case xml.EndElement:
			r.depth--
		}
	}
}

// Close implements Reader.
func (r *tmxReader) Close() error { return r.file.Close() }

// markup are TMX's inline elements that hold native formatting codes; the others hold text.
var markup = map[string]bool{"bpt": true, "ept": true, "ph": true, "it": true, "ut": true}

// unit reads a <tu> whose start is read: its children <tuv>, each with a language and a <seg>.
func (r *tmxReader) unit() (Record, error) {
	rec := Record{Number: r.units}
	texts, found := [2]*string{&rec.Source, &rec.Target}, [2]bool{}
	var v variant
	for depth := 0; ; {
		token, err := r.xml.Token()
		if err != nil {
			return rec, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth+r.depth > maxDepth {
				return rec, errTooDeep
			}
			if depth == 1 && t.Name.Local == "tuv" {
				v = variant{open: true, of: r.sidesOf(t.Attr)}
			}
			v.start(depth, t.Name.Local)
		case xml.CharData:
			v.add(t)
		case xml.EndElement:
			if depth == 0 {
				if !found[0] || !found[1] {
					rec.Reason, rec.Detail = corpus.ReasonMalformed,
						"the unit lacks one of the languages "+r.langs[0]+" and "+r.langs[1]
				}
				return rec, nil
			}
			v.end(depth)
			for side, text := range texts {
				if depth == 1 && v.of[side] && !found[side] {
					found[side], *text = true, v.text
				}
			}
			if depth == 1 {
				v = variant{}
			}
			depth--
		}
	}
}

// variant is a <tuv> as it is read.
type variant struct {
	open    bool
	of      [2]bool // it is in the source's, the target's language
	segment bool    // inside <seg>
	skip    int     // the depth of the markup that is left out; 0: none
	build   strings.Builder
	text    string // content of the last <seg>
}

func (v *variant) start(depth int, name string) {
	switch {
	case v.open && depth == 2 && name == "seg":
		v.segment = true
		v.build.Reset()
	case v.segment && v.skip == 0 && markup[name]:
		v.skip = depth
	}
}

func (v *variant) add(text []byte) {
	if v.segment && v.skip == 0 {
		v.build.Write(text)
	}
}

func (v *variant) end(depth int) {
	switch {
	case v.skip == depth:
		v.skip = 0
	case v.segment && depth == 2:
		v.segment, v.text = false, strings.TrimSpace(v.build.String())
	}
}

// sidesOf says which sides' language a <tuv> has: its code may be in any usual form.
func (r *tmxReader) sidesOf(attributes []xml.Attr) (of [2]bool) {
	for _, a := range attributes {
		if a.Name.Local != "lang" {
			continue
		}
		side, known := r.sides[a.Value]
		if !known {
			side = -1
			if language, err := corpus.ParseLanguage(a.Value); err == nil {
				for i, want := range r.langs {
					if language == want {
						side = i
					}
				}
			}
			if len(r.sides) < maxCodes {
				r.sides[a.Value] = side
			}
		}
		if side >= 0 {
			of[side] = true
		}
	}
	return of
}

// maxCodes is the number of language codes that are remembered: more than there are in use.
const maxCodes = 1 << 10

var (
	errTooLong = errors.New("too long")
	errTooDeep = errors.New("too deep")
)

type charsetError string

func (c charsetError) Error() string { return "encoding " + string(c) }

// explain adds the file's name and advice to an error.
func (r *tmxReader) explain(err error) error {
	var charset charsetError
	switch {
	case err == nil || err == io.EOF: //nolint:errorlint // the end of the file itself, not an error that wraps it
		return err
	case errors.Is(err, errTooLong):
		return badinput.Errorf(
			"%s: translation unit %d, or what is before it, is longer than %d bytes: divide it or remove it",
			r.name, max(1, r.units), maxUnitBytes)
	case errors.Is(err, errTooDeep):
		return badinput.Errorf(
			"%s: translation unit %d, or what is before it, has elements more than %d deep: give a TMX file",
			r.name, max(1, r.units), maxDepth)
	case errors.As(err, &charset):
		return badinput.Errorf("%s is in the encoding %s: convert it to UTF-8, its first line too", r.name,
			string(charset))
	case r.in.err != nil:
		return fmt.Errorf("read %s: %w", r.name, r.in.err)
	}
	return badinput.Errorf("%s is not well-formed XML (%w): mend the file", r.name, err)
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
