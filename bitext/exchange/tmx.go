package exchange

import (
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// tmxReader reads TMX.
type tmxReader struct {
	*units
	at    int64          // offset of the children of the last unit read
	sides map[string]int // side of each code that was seen; -1: neither
	has   [2]bool        // whether a unit had the language of a side
	langs [2]string
	props bool // Options.Properties
}

func openTMX(in input.File, opts Options) (*tmxReader, error) {
	u, err := openUnits(in, nil)
	if err != nil {
		return nil, err
	}
	return newTMXReader(u, opts), nil
}

func newTMXReader(u *units, opts Options) *tmxReader {
	return &tmxReader{units: u, sides: map[string]int{}, langs: [2]string{opts.SourceLanguage, opts.TargetLanguage}, props: opts.Properties}
}

// Next implements Reader. A unit without one of the languages is malformed, and has the other's text.
func (r *tmxReader) Next() (Record, error) {
	err := r.seek(func(xml.StartElement) {}, "tu")
	if errors.Is(err, io.EOF) && r.number == 0 {
		return Record{}, badinput.Errorf("%s holds no translation unit: give a TMX file", r.name)
	}
	if errors.Is(err, io.EOF) && r.has != [2]bool{true, true} {
		return Record{}, r.lacks()
	}
	if err != nil {
		return Record{}, err
	}
	r.at = r.xml.InputOffset()
	rec, err := r.unit()
	return rec, r.explain(err)
}

// lacks is the error of a file without one of the languages in any unit.
func (r *tmxReader) lacks() error {
	var none []string
	for side, has := range r.has {
		if !has {
			none = append(none, r.langs[side])
		}
	}
	const shown = 10
	codes := slices.Sorted(maps.Keys(r.sides))
	if len(codes) == 0 {
		return badinput.Errorf("%s has no <tuv> that says its language: write it there (xml:lang=%q)", r.name, r.langs[0])
	}
	return badinput.Errorf("%s has units in %s and none in %s: name its languages (--src, --tgt)", r.name,
		strings.Join(codes[:min(len(codes), shown)], ", "), strings.Join(none, " or "))
}

// unit reads a <tu> whose start is read: its children <tuv>, each with a language and a <seg>.
func (r *tmxReader) unit() (Record, error) {
	rec := Record{Number: r.number}
	texts, found := [2]*string{&rec.Source, &rec.Target}, [2]bool{}
	v, p := variant{}, property{wanted: r.props}
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
			p.start(depth, t, &v, found)
		case xml.CharData:
			v.add(t)
			p.add(t)
		case xml.EndElement:
			if depth == 0 {
				if !found[0] || !found[1] {
					rec.Reason, rec.Detail = corpus.ReasonMalformed,
						"the unit lacks one of the languages "+r.langs[0]+" and "+r.langs[1]
				}
				rec.Properties = p.all
				return rec, nil
			}
			v.end(depth)
			p.end(depth)
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
	content
	open bool
	of   [2]bool // it is in the source's, the target's language
	text string  // text of the last <seg>
}

func (v *variant) start(depth int, name string) {
	if v.open && depth == 2 && name == "seg" {
		v.begin(depth)
	} else {
		v.content.start(depth, name)
	}
}

func (v *variant) end(depth int) {
	if text, whole := v.content.end(depth); whole {
		v.text = text
	}
}

// property is a <prop> as it is read, and those of its unit before it.
type property struct {
	content
	wanted bool
	name   string
	all    []Property
}

// start begins the value of an element that is a property of the unit, or of a variant that is the first of its side.
func (p *property) start(depth int, t xml.StartElement, v *variant, found [2]bool) {
	if !p.wanted || t.Name.Local != "prop" || depth != 1 && (depth != 2 || !v.open) {
		return
	}
	kind := ""
	for _, a := range t.Attr {
		if a.Name.Local == "type" {
			kind = strings.TrimPrefix(a.Value, "x-")
		}
	}
	side := ""
	switch {
	case kind == "" || depth == 2 && v.of == [2]bool{}:
		return
	case depth == 2 && v.of[0] && !found[0]:
		side = "src_"
	case depth == 2 && v.of[1] && !found[1]:
		side = "tgt_"
	case depth == 2:
		return
	}
	if side != "" && kind == "source-document" { // Bitextor's and ParaCrawl's addresses
		kind = "url"
	}
	p.name = side + columnName(kind)
	p.begin(depth)
}

func (p *property) end(depth int) {
	if value, whole := p.content.end(depth); whole && value != "" {
		p.all = append(p.all, Property{p.name, value})
	}
}

// columnName makes the type of a property the name of a column, which conditions can have.
func columnName(kind string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, kind)
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
			of[side], r.has[side] = true, true
		}
	}
	return of
}

// maxCodes is the number of language codes that are remembered: more than there are in use.
const maxCodes = 1 << 10
