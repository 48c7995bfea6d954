package page

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"bitextmine/corpus/input"
)

// POColumns are the columns of a catalogue of messages. text is the translation.
var POColumns = []string{"text", "msgid", "msgstr", "msgctxt"}

// catalogue reads a catalogue of messages (gettext): each message with a translation that nobody doubts is a page. Its
// text is the translation, or the original where the column is msgid. Messages without translation and those that are
// marked fuzzy are empty.
type catalogue struct {
	in      *input.LineReader
	column  string
	message poEntry
	last    bool
}

// poEntry is a message.
type poEntry struct {
	line              uint64
	id, text, context []byte
	fuzzy, begun      bool
	field             *[]byte // that the next line goes on with
	malformed         bool
	excess            int64
}

// LooksPO reports whether a file begins as a catalogue does: with a message without original.
func LooksPO(head []byte) bool {
	return bytes.Contains(head, []byte("msgid \"\"\nmsgstr \"\"\n")) || bytes.Contains(head, []byte("msgid \"\"\r\nmsgstr \"\"\r\n"))
}

// NewPO reads the messages of a catalogue, with a text of one of POColumns.
func NewPO(in *input.LineReader, column string) Reader { return &catalogue{in: in, column: column} }

func (d *catalogue) Next() (*Page, error) {
	for !d.last {
		line, excess, err := d.in.Next()
		if err != nil {
			if d.last = true; !errors.Is(err, io.EOF) || !d.message.begun {
				return nil, err
			}
			if p := d.end(); p != nil {
				return p, nil
			}
			return nil, err
		}
		if d.message.excess = max(d.message.excess, excess); excess > 0 {
			continue
		}
		line = bytes.TrimSpace(line)
		var p *Page
		if d.ends(line) {
			p = d.end()
		}
		d.add(line)
		if p != nil {
			return p, nil
		}
	}
	return nil, io.EOF
}

// ends reports whether a message ends before a line.
func (d *catalogue) ends(line []byte) bool {
	e := &d.message
	switch {
	case !e.begun:
		return false
	case len(line) == 0, bytes.HasPrefix(line, []byte("msgctxt ")):
		return true
	}
	return e.field == &e.text && (line[0] == '#' || bytes.HasPrefix(line, []byte("msgid ")))
}

// add reads a line of a message.
func (d *catalogue) add(line []byte) {
	e := &d.message
	if bytes.HasPrefix(line, []byte("#~")) {
		return // a message that is no longer used
	}
	if bytes.HasPrefix(line, []byte("#,")) {
		e.fuzzy = e.fuzzy || bytes.Contains(line, []byte("fuzzy"))
		return
	}
	if len(line) == 0 || line[0] == '#' {
		return
	}
	if !e.begun {
		e.begun, e.line = true, d.in.Number
	}
	keyword, value, _ := bytes.Cut(line, []byte(" "))
	switch {
	case line[0] == '"':
		value = line
	case string(keyword) == "msgid":
		e.field = &e.id
	case string(keyword) == "msgstr", string(keyword) == "msgstr[0]":
		e.field = &e.text
	case string(keyword) == "msgctxt":
		e.field = &e.context
	case bytes.HasPrefix(keyword, []byte("msgstr[")), string(keyword) == "msgid_plural":
		e.field = new([]byte) // of the forms the first stands for all
		if string(keyword) != "msgid_plural" {
			e.field = &e.text
			value = []byte(`""`)
		}
	default:
		e.malformed = true
		return
	}
	text, err := strconv.Unquote(string(bytes.TrimSpace(value)))
	if err != nil || e.field == nil {
		e.malformed = true
		return
	}
	*e.field = append(*e.field, text...)
}

// end makes a page of the message that ended; nil: it is the catalogue's header, without original.
func (d *catalogue) end() *Page {
	e := d.message
	d.message = poEntry{}
	p := &Page{Number: e.line, Columns: map[string]string{"text": string(e.text), "msgstr": string(e.text), "msgid": string(e.id), "msgctxt": string(e.context)}}
	switch {
	case e.excess > 0:
		p.Skip, p.Detail = TooLong, "a line of the message is too long"
	case e.malformed:
		p.Skip, p.Detail = Malformed, "not a message of a catalogue"
	case len(e.id) == 0 && len(e.context) == 0:
		return nil
	case e.fuzzy, len(e.text) == 0:
		p.Skip, p.Detail = Empty, "without a translation, or with one in doubt"
	default:
		p.Text = p.Columns[d.column]
	}
	return p
}
