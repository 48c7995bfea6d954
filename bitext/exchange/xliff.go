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

// xliffReader reads XLIFF 1.2, whose pairs are <trans-unit>, or their segments where both sides have them (<mrk> of
// type seg), and 2, whose pairs are <segment>. Those without a translation are Untranslated.
type xliffReader struct {
	*units
	want    [2]string // languages; those that are empty are taken as they are
	has     [2]string // languages of the file being read
	swapped bool      // the file's source is the target
	other   string    // languages of the file being read, if they are not those; "": they are
	any     bool
	pending []Pair // pairs of a unit
}

func openXLIFF(in input.File, opts Options) (*xliffReader, error) {
	u, err := openUnits(in, newWithoutOriginal)
	if err != nil {
		return nil, err
	}
	return &xliffReader{units: u, want: [2]string{opts.SourceLanguage, opts.TargetLanguage}}, nil
}

// Next implements Reader.
func (r *xliffReader) Next() (Record, error) {
	for len(r.pending) == 0 {
		err := r.seek(r.languages, "trans-unit", "segment")
		if errors.Is(err, io.EOF) && !r.any && r.other != "" {
			return Record{}, badinput.Errorf("%s is %s, and has nothing in %s and %s: name its languages, or another file", r.name, r.other,
				r.want[0], r.want[1])
		}
		if errors.Is(err, io.EOF) && !r.any {
			return Record{}, badinput.Errorf("%s holds no unit: give an XLIFF file", r.name)
		}
		if err != nil {
			return Record{}, err
		}
		if r.pending, err = r.unit(); err != nil {
			return Record{}, r.explain(err)
		}
		if r.other != "" {
			r.pending = nil
		}
	}
	rec := Record{Pair: r.pending[0], Number: r.number, Languages: r.has}
	r.pending, r.any = r.pending[1:], true
	if rec.Target == "" {
		rec.Reason, rec.Detail = Untranslated, "the unit has no translation"
	}
	if r.swapped {
		rec.Source, rec.Target = rec.Target, rec.Source
		rec.Languages[0], rec.Languages[1] = rec.Languages[1], rec.Languages[0]
	}
	return rec, nil
}

// languages compares the languages of <xliff> (version 2) and of <file> (version 1.2) with those that are wanted. Of
// several files in one, those in others are left out.
func (r *xliffReader) languages(t xml.StartElement) {
	codes := [2]string{attribute(t, "srcLang", "source-language"), attribute(t, "trgLang", "target-language")}
	if codes[0] == "" {
		return
	}
	for side, code := range codes {
		r.has[side], _ = corpus.ParseLanguage(code) // one that is not known is none that is wanted
	}
	fits := func(source, target int) bool {
		return (r.want[source] == "" || r.has[0] == r.want[source]) && (r.want[target] == "" || codes[1] == "" || r.has[1] == r.want[target])
	}
	r.other, r.swapped = "", !fits(0, 1) && fits(1, 0)
	if !r.swapped && !fits(0, 1) {
		r.other = fmt.Sprintf("from %q to %q", codes[0], codes[1])
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

// sideText is a side of a unit: its text, and those of its segments by their ids, in order.
type sideText struct {
	whole string
	ids   []string
	parts map[string]string
}

// unit reads an element whose start is read. A target that version 1.2 calls new, or yet to be translated, is none.
func (r *xliffReader) unit() ([]Pair, error) {
	var sides [2]sideText
	var side *sideText // nil: the element is no side's
	var whole, part content
	id := ""
	for depth := 0; ; {
		token, err := r.xml.Token()
		if err != nil {
			return nil, err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth+r.depth > maxDepth {
				return nil, errTooDeep
			}
			name, state, kind := t.Name.Local, attribute(t, "state"), attribute(t, "mtype")
			switch {
			case depth > 1 && kind == "seg":
				id = attribute(t, "mid")
				part.begin(depth)
			case depth > 1:
				if kind == "x-sdl-deleted" {
					name = "ph" // a tracked change: nothing of it counts
				}
				whole.start(depth, name)
				part.start(depth, name)
			case name == "seg-source": // the source again, in segments
				side = &sides[0]
			case name == "source":
				side = &sides[0]
				whole.begin(depth)
			case name == "target" && state != "new" && state != "needs-translation":
				side = &sides[1]
				whole.begin(depth)
			}
		case xml.CharData:
			whole.add(t)
			part.add(t)
		case xml.EndElement:
			if depth == 0 {
				return pairsOf(sides), nil
			}
			if text, ended := part.end(depth); ended && side != nil {
				side.add(id, text)
			}
			if text, ended := whole.end(depth); ended {
				side.whole = text
			}
			if depth--; depth == 0 {
				side = nil
			}
		}
	}
}

func (s *sideText) add(id, text string) {
	if s.parts == nil {
		s.parts = map[string]string{}
	}
	if _, known := s.parts[id]; !known {
		s.ids = append(s.ids, id)
	}
	s.parts[id] = text
}

// pairsOf are a unit's segments, where both sides have them, or the unit.
func pairsOf(sides [2]sideText) (pairs []Pair) {
	if len(sides[0].ids) == 0 || len(sides[1].ids) == 0 {
		return []Pair{{sides[0].whole, sides[1].whole}}
	}
	for _, id := range sides[0].ids {
		pairs = append(pairs, Pair{sides[0].parts[id], sides[1].parts[id]})
	}
	return pairs
}
