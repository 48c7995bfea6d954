package corpus

import (
	"bytes"
	"slices"
	"strconv"

	"bitextmine/corpus/input"
)

// poColumns are the columns of a catalogue of messages. text is the translation.
var poColumns = []string{"text", "msgid", "msgstr", "msgctxt"}

// poDecoder reads a catalogue of messages (gettext): each message with a translation that nobody doubts is a record,
// whose text is the translation, or the original where Options.TextColumn is msgid. Messages without translation and
// those that are marked fuzzy are empty.
type poDecoder struct {
	in      *input.LineReader
	opts    Options
	records uint64
	entry   poEntry
	pending []byte // line that begins the next message
	last    bool
}

// poEntry is a message.
type poEntry struct {
	line                   uint64
	id, text, context      []byte
	fuzzy, begun, obsolete bool
	field                  *[]byte // that the next line goes on with
	malformed              bool
	excess                 int64
}

// looksPO reports whether a file begins as a catalogue does: with a message without original.
func looksPO(head []byte) bool {
	return bytes.Contains(head, []byte("msgid \"\"\nmsgstr \"\"\n")) || bytes.Contains(head, []byte("msgid \"\"\r\nmsgstr \"\"\r\n"))
}

func newPODecoder(in *input.LineReader, opts Options) (*poDecoder, error) {
	for _, column := range append(opts.Metadata(), opts.TextColumn) {
		if !slices.Contains(poColumns, column) {
			return nil, opts.noColumn(in.Name, column, poColumns)
		}
	}
	return &poDecoder{in: in, opts: opts}, nil
}

func (d *poDecoder) lines() uint64 { return d.records }

func (d *poDecoder) next(rec *record) error {
	for !d.last {
		line, excess, err := d.in.Next()
		if err != nil {
			if d.last = true; d.entry.begun {
				return d.emit(rec)
			}
			return err
		}
		if d.entry.excess = max(d.entry.excess, excess); excess > 0 {
			continue
		}
		line = bytes.TrimSpace(line)
		begins := bytes.HasPrefix(line, []byte("msgid ")) && d.entry.field == &d.entry.text || bytes.HasPrefix(line, []byte("msgctxt ")) && d.entry.begun
		if d.entry.begun && (len(line) == 0 || begins || line[0] == '#' && d.entry.field == &d.entry.text) {
			err := d.emit(rec)
			if len(line) > 0 {
				d.add(line)
			}
			if rec.line != 0 || err != nil {
				return err
			}
			continue
		}
		d.add(line)
	}
	return d.end(rec)
}

// end returns io.EOF.
func (d *poDecoder) end(*record) error {
	_, _, err := d.in.Next()
	return err
}

// add reads a line of a message.
func (d *poDecoder) add(line []byte) {
	e := &d.entry
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

// emit makes a record of the message that ended. A message without original is the catalogue's header, and no record:
// rec.line is 0 then.
func (d *poDecoder) emit(rec *record) error {
	e := d.entry
	d.entry = poEntry{}
	if len(e.id) == 0 && len(e.context) == 0 && !e.malformed && e.excess == 0 {
		rec.line = 0
		if d.last {
			return d.end(rec)
		}
		return nil
	}
	d.records++
	if !rec.reset(e.line, e.excess, d.in.Max) {
		return nil
	}
	switch {
	case e.malformed:
		rec.malformed("not a message of a catalogue")
	case e.fuzzy, len(e.text) == 0:
		rec.reason, rec.detail = ReasonEmpty, "without a translation, or with one in doubt"
	default:
		value := map[string][]byte{"text": e.text, "msgstr": e.text, "msgid": e.id, "msgctxt": e.context}
		rec.text = value[d.opts.TextColumn]
		for i, column := range d.opts.Metadata() {
			rec.meta[i] = value[column]
		}
	}
	return nil
}
