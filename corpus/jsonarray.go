package corpus

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"bitextmine/internal/badinput"
)

// arrayDecoder reads one JSON array of objects, as of JSON lines, or of texts. Its elements are its lines.
type arrayDecoder struct {
	jsonlDecoder
	name     string
	from     *budget
	json     *json.Decoder
	elements uint64
}

// budget is a reader that ends with an error where one element has more bytes than are allowed.
type budget struct {
	from io.Reader
	left int64
}

var errElement = errors.New("an element is too long")

func (b *budget) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errElement
	}
	n, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}

// newArrayDecoder returns the decoder of a file that begins with a bracket.
func newArrayDecoder(br *bufio.Reader, name string, opts Options) (*arrayDecoder, error) {
	from := &budget{from: br}
	d := &arrayDecoder{jsonlDecoder: jsonlDecoder{opts: opts, columns: opts.columns()}, name: name, from: from,
		json: json.NewDecoder(from)}
	d.refill()
	if _, err := d.json.Token(); err != nil {
		return nil, d.explain(err)
	}
	return d, nil
}

// refill allows another element of MaxLineBytes, and what the decoder reads ahead.
func (d *arrayDecoder) refill() { d.from.left = int64(d.opts.MaxLineBytes) + 64<<10 }

func (d *arrayDecoder) explain(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.As(err, &syntax):
		return badinput.Errorf("%s: the JSON array is cut off or malformed after element %d (%v); make the file again", d.name, d.elements, err)
	case errors.Is(err, errElement):
		return badinput.Errorf("%s: element %d of the JSON array has more than %d bytes; give JSON lines, or raise --max-line-bytes",
			d.name, d.elements+1, d.opts.MaxLineBytes)
	}
	return err
}

func (d *arrayDecoder) lines() uint64 { return d.elements }

func (d *arrayDecoder) next(rec *record) error {
	d.refill()
	if !d.json.More() {
		if _, err := d.json.Token(); err != nil { // the bracket
			return d.explain(err)
		}
		return io.EOF
	}
	var raw json.RawMessage
	if err := d.json.Decode(&raw); err != nil {
		return d.explain(err)
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
