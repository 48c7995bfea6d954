package corpus

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
	"bitextmine/internal/subtag"
)

// jsonlDecoder reads one JSON object per line. The first object must have all named columns, so that a misspelt name is
// reported at once. A later object without the text column is a bad line; if it lacks another column, that field is
// empty.
type jsonlDecoder struct {
	in      *input.LineReader
	opts    Options
	columns []string        // Options.columns
	checked bool            // the first object was checked
	others  map[string]bool // languages of segments: whether they are other ones
}

func (d *jsonlDecoder) lines() uint64 { return d.in.Number }

func (d *jsonlDecoder) next(rec *record) error {
	line, excess, err := d.in.Next()
	if err != nil {
		return err
	}
	if !rec.reset(d.in.Number, excess, d.in.Max) || isBlank(line) {
		return nil
	}
	// encoding/json would replace these bytes by U+FFFD without an error.
	if !utf8.Valid(line) {
		rec.reason, rec.detail = ReasonNotUTF8, invalidAt(line)
		return nil
	}
	object := JSONObject(line)
	if object == nil {
		rec.malformed("not a JSON object")
		if d.in.Number == 1 && unended(line) {
			rec.malformed("the file begins with one JSON object over several lines; give an array of objects, or JSON lines, an object a line")
		}
		return nil
	}
	if !d.checked {
		if err := d.check(fmt.Sprintf("%s:%d", d.in.Name, d.in.Number), object); err != nil {
			return err
		}
		d.checked = true
	}
	d.fill(rec, object)
	return nil
}

// JSONObject is the object of a line of JSON lines, nil if it has none.
func JSONObject(line []byte) (object map[string]json.RawMessage) {
	if json.Unmarshal(line, &object) == nil {
		return object
	}
	object = nil // values before the error were set
	if json.Unmarshal(NaNAsNull(line), &object) == nil {
		return object
	}
	return nil
}

var stringOrNaN = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?Infinity|NaN`)

// NaNAsNull puts null in the place of the NaN, Infinity and -Infinity that Python writes, which JSON does not have.
func NaNAsNull(line []byte) []byte {
	return stringOrNaN.ReplaceAllFunc(line, func(token []byte) []byte {
		if token[0] == '"' {
			return token
		}
		return []byte("null")
	})
}

// unended reports whether a line begins a JSON object that goes on on the next one.
func unended(line []byte) bool {
	line = bytes.TrimSpace(line)
	return line[0] == '{' && bytes.IndexByte([]byte("{[,:"), line[len(line)-1]) >= 0
}

func (d *jsonlDecoder) check(at string, object map[string]json.RawMessage) error {
	for i, name := range d.columns {
		if _, ok := object[name]; !ok && name != "" && !d.opts.optional(i) {
			return d.opts.noColumn(at, name, slices.Sorted(maps.Keys(object)))
		}
	}
	return nil
}

func (d *jsonlDecoder) fill(rec *record, object map[string]json.RawMessage) {
	raw, ok := object[d.opts.TextColumn]
	if !ok {
		rec.reason, rec.detail = ReasonNoColumn, fmt.Sprintf("no column %q", d.opts.TextColumn)
		return
	}
	if string(raw) != "null" && raw[0] != '"' {
		rec.malformed("column %q is not a string", d.opts.TextColumn)
		return
	}
	for i, name := range d.columns {
		if name == "" {
			continue
		}
		value := object[name]
		if i >= firstMetadata { // HPLT's lists have the most likely language first
			value = firstOf(value)
		}
		if *rec.field(i), ok = scalar(value); !ok {
			what := "has half of a surrogate pair"
			switch object[name][0] {
			case '[':
				what = "is a list, not one value"
			case '{':
				what = "is an object, not one value"
			}
			rec.malformed("column %q %s", name, what)
			return
		}
	}
	if d.opts.Split != "" && len(object[segmentLanguages]) > 0 {
		d.segments(rec, object[segmentLanguages])
	}
}

// segmentLanguages is the column in which HPLT's documents have a list with the language of each line of their text.
const segmentLanguages = "seg_langs"

// segments leaves out the lines of a document that are in another language than Options.Split. Spaces stand in their
// place, so that positions stay.
func (d *jsonlDecoder) segments(rec *record, list json.RawMessage) {
	var codes []string
	if err := json.Unmarshal(list, &codes); err != nil {
		return
	}
	lines := bytes.SplitAfter(bytes.TrimSuffix(rec.text, []byte("\n")), []byte("\n"))
	if len(lines) != len(codes) {
		return // segments of another kind
	}
	text := make([]byte, 0, len(rec.text))
	for i, line := range lines {
		if !d.foreign(codes[i]) {
			text = append(text, line...)
			continue
		}
		rec.left++
		text = append(text, bytes.Repeat([]byte(" "), len(bytes.TrimSuffix(line, []byte("\n"))))...)
		text = append(text, line[len(bytes.TrimSuffix(line, []byte("\n"))):]...)
	}
	rec.text = text
}

// foreign reports whether a code is surely that of another language; und and unknown codes are not.
func (d *jsonlDecoder) foreign(code string) bool {
	other, known := d.others[code]
	if !known {
		canonical, err := ParseLanguage(code)
		other = err == nil && subtag.Language(canonical) != subtag.Language(d.opts.SplitLanguage())
		if d.others == nil {
			d.others = map[string]bool{}
		}
		d.others[code] = other
	}
	return other
}

// firstOf is the first value of a list, or the value itself.
func firstOf(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &list) != nil {
		return raw
	}
	if len(list) == 0 {
		return nil
	}
	return list[0]
}

// scalar returns a JSON value as text: the characters of a string, a number or boolean as written, nothing for null or
// a missing value. ok is false if an escape is half of a surrogate pair, which is not a character.
func scalar(raw json.RawMessage) (text []byte, ok bool) {
	switch {
	case len(raw) == 0, string(raw) == "null":
		return nil, true
	case raw[0] == '{', raw[0] == '[':
		return nil, false
	case raw[0] != '"':
		return raw, true
	}
	if !bytes.ContainsRune(raw, '\\') {
		return raw[1 : len(raw)-1], true
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, false
	}
	halfPair := bytes.Count([]byte(s), []byte("\ufffd")) > bytes.Count(raw,
		[]byte("\ufffd"))+bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`))
	return []byte(s), !halfPair
}

// JSONText returns the characters of a JSON string; null is an empty text. ok is false for any other value, and for an
// escape that is half of a surrogate pair.
func JSONText(raw json.RawMessage) (text string, ok bool) {
	if string(raw) != "null" && (len(raw) == 0 || raw[0] != '"') {
		return "", false
	}
	data, ok := scalar(raw)
	return string(data), ok
}

// invalidAt returns the position of the first byte that is not UTF-8, for messages.
func invalidAt(text []byte) string {
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && width == 1 {
			return fmt.Sprintf("byte %d (0x%02x) is not UTF-8", i+1, text[i])
		}
		i += width
	}
	return ""
}

// arrayDecoder reads one JSON array of objects, as of JSON lines, or of texts. Its elements are its lines.
type arrayDecoder struct {
	jsonlDecoder
	name     string
	from     *bufio.Reader
	element  []byte // the one that was read last
	last     bool   // the array ends behind it
	elements uint64
}

var errElement = errors.New("an element is too long")

// newArrayDecoder returns the decoder of a file that begins with a bracket.
func newArrayDecoder(br *bufio.Reader, name string, opts Options) (*arrayDecoder, error) {
	d := &arrayDecoder{jsonlDecoder: jsonlDecoder{opts: opts, columns: opts.columns()}, name: name, from: br}
	switch b, err := d.visible(); {
	case errors.Is(err, io.EOF), err == nil && b != '[':
		return nil, badinput.Errorf("%s does not begin with [ and is no JSON array; give one array of objects, or JSON lines and --format jsonl", name)
	case err != nil:
		return nil, err
	}
	return d, nil
}

// visible is the next byte that is no white space.
func (d *arrayDecoder) visible() (byte, error) {
	for {
		b, err := d.from.ReadByte()
		if err != nil || bytes.IndexByte([]byte(" \t\r\n"), b) < 0 {
			return b, err
		}
	}
}

// read reads an element to what ends it, a comma or the array's bracket.
func (d *arrayDecoder) read() (end byte, err error) {
	longest := d.opts.MaxLineBytes + 64<<10 // room for white space
	d.element = d.element[:0]
	depth, inText, escaped := 0, false, false
	for len(d.element) <= longest {
		b, err := d.from.ReadByte()
		if err != nil {
			return 0, err
		}
		switch {
		case inText:
			inText = b != '"' || escaped
			escaped = b == '\\' && !escaped
		case b == '"':
			inText = true
		case b == '[', b == '{':
			depth++
		case depth == 0 && (b == ',' || b == ']'):
			return b, nil
		case b == ']', b == '}':
			depth = max(depth-1, 0)
		}
		d.element = append(d.element, b)
	}
	return 0, errElement
}

func (d *arrayDecoder) explain(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.As(err, &syntax):
		return badinput.Errorf("%s: the JSON array is cut off or malformed after element %d (%v); make the file again", d.name, d.elements, err)
	case errors.Is(err, errElement):
		return badinput.Errorf("%s: element %d of the JSON array has more than %d bytes; give JSON lines, or raise --max-line-bytes",
			d.name, d.elements+1, d.opts.MaxLineBytes)
	}
	return err
}

// ended returns io.EOF behind the array, where nothing else may be.
func (d *arrayDecoder) ended() error {
	_, err := d.visible()
	if err == nil {
		return badinput.Errorf("%s: something follows the JSON array after element %d; give one array, or JSON lines", d.name, d.elements)
	}
	return err
}

func (d *arrayDecoder) lines() uint64 { return d.elements }

func (d *arrayDecoder) next(rec *record) error {
	if d.last {
		return d.ended()
	}
	end, err := d.read()
	if err != nil {
		return d.explain(err)
	}
	d.last = end == ']'
	if d.last && d.elements == 0 && len(bytes.TrimSpace(d.element)) == 0 {
		return d.ended()
	}
	var raw json.RawMessage
	if json.Unmarshal(d.element, &raw) != nil {
		if err := json.Unmarshal(NaNAsNull(d.element), &raw); err != nil {
			return d.explain(err)
		}
	}
	d.elements++
	rec.reset(d.elements, 0, 0)
	var object map[string]json.RawMessage
	switch {
	case !utf8.Valid(raw):
		rec.reason, rec.detail = ReasonNotUTF8, invalidAt(raw)
		return nil
	case raw[0] == '"':
		object = map[string]json.RawMessage{d.opts.TextColumn: raw}
	default:
		if err := json.Unmarshal(raw, &object); err != nil || object == nil {
			rec.malformed("not a JSON object")
			return nil
		}
		if !d.checked {
			if err := d.check(fmt.Sprintf("%s: element %d", d.name, d.elements), object); err != nil {
				return err
			}
			d.checked = true
		}
	}
	d.fill(rec, object)
	return nil
}
