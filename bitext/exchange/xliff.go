package exchange

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// xliffReader reads XLIFF 1.2, whose pairs are <trans-unit>, and 2, whose pairs are <segment>. Those without a
// translation are left out.
type xliffReader struct {
	*units
	want    [2]string // languages, or empty if the file's are taken as they are
	swapped bool      // the file's source is the target
	other   string    // languages of the file being read, if they are not those; "": they are
	any     bool
}

func openXLIFF(in input.File, opts Options) (*xliffReader, error) {
	u, err := openUnits(in)
	if err != nil {
		return nil, err
	}
	return newXLIFFReader(u, opts), nil
}

func newXLIFFReader(u *units, opts Options) *xliffReader {
	return &xliffReader{units: u, want: [2]string{opts.SourceLanguage, opts.TargetLanguage}}
}

// Next implements Reader.
func (r *xliffReader) Next() (Record, error) {
	for {
		err := r.seek(r.languages, "trans-unit", "segment")
		if errors.Is(err, io.EOF) && !r.any && r.other != "" {
			return Record{}, badinput.Errorf("%s is %s, not in %s and %s: name its languages, or another file", r.name, r.other,
				r.want[0], r.want[1])
		}
		if errors.Is(err, io.EOF) && !r.any {
			return Record{}, badinput.Errorf("%s holds no unit with a translation: give an XLIFF file", r.name)
		}
		if err != nil {
			return Record{}, err
		}
		pair, err := r.unit()
		if err != nil {
			return Record{}, r.explain(err)
		}
		if pair.Target == "" || r.other != "" {
			continue
		}
		r.any = true
		if r.swapped {
			pair.Source, pair.Target = pair.Target, pair.Source
		}
		return Record{Pair: pair, Number: r.number}, nil
	}
}

// languages compares the languages of <xliff> (version 2) and of <file> (version 1.2) with those that are wanted. Of
// several files in one, those in others are left out.
func (r *xliffReader) languages(t xml.StartElement) {
	has := [2]string{attribute(t, "srcLang", "source-language"), attribute(t, "trgLang", "target-language")}
	if has[0] == "" || r.want[0] == "" {
		return
	}
	var of [2]string
	for side, code := range has {
		of[side], _ = corpus.ParseLanguage(code) // one that is not known is none that is wanted
	}
	r.other, r.swapped = "", of[0] == r.want[1]
	if of != r.want && !(r.swapped && (of[1] == r.want[0] || has[1] == "")) && !(of[0] == r.want[0] && has[1] == "") {
		r.other = fmt.Sprintf("from %q to %q", has[0], has[1])
	}
}

// attribute is the value of the first attribute of one of the names.
func attribute(t xml.StartElement, names ...string) string {
	for _, name := range names {
		for _, a := range t.Attr {
			if a.Name.Local == name {
				return a.Value
			}
		}
	}
	return ""
}

// unit reads an element whose start is read. A target that version 1.2 calls new, or yet to be translated, is none.
func (r *xliffReader) unit() (pair Pair, err error) {
	var text content
	var to *string
	for depth := 0; ; {
		token, err := r.xml.Token()
		if err != nil {
			return pair, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth+r.depth > maxDepth {
				return pair, errTooDeep
			}
			state := attribute(t, "state")
			switch {
			case depth == 1 && t.Name.Local == "source":
				to = &pair.Source
				text.begin(depth)
			case depth == 1 && t.Name.Local == "target" && state != "new" && state != "needs-translation":
				to = &pair.Target
				text.begin(depth)
			default:
				text.start(depth, t.Name.Local)
			}
		case xml.CharData:
			text.add(t)
		case xml.EndElement:
			if depth == 0 {
				return pair, nil
			}
			if read, whole := text.end(depth); whole {
				*to = read
			}
			depth--
		}
	}
}
