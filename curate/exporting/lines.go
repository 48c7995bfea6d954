package exporting

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"unicode/utf8"

	"bitextmine/bitext/table"
	"bitextmine/internal/badinput"
)

// tsv has a line that names the columns, and a line for each row. Lists are joined by commas, nulls are empty.
type tsv struct {
	to        io.Writer
	separator byte
	breaks    *breaker // nil: fields are quoted, as in CSV (RFC 4180)
	buffer    []byte
	started   bool
}

func newTSV(to []io.Writer, opts FormatOptions) Writer {
	return &tsv{to: to[0], separator: '\t', breaks: newBreaker(opts.Breaks, "\t\n\r")}
}

func newCSV(to []io.Writer, _ FormatOptions) Writer { return &tsv{to: to[0], separator: ','} }

// field changes dst[from:], a text of a row, to what is to be written.
func (w *tsv) field(dst []byte, from int, row uint64, column string) ([]byte, error) {
	if w.breaks != nil {
		return w.breaks.write(dst, from, row, column)
	}
	if !bytes.ContainsAny(dst[from:], ",\"\n\r") {
		return dst, nil
	}
	text := string(dst[from:])
	return append(append(append(dst[:from], '"'), strings.ReplaceAll(text, `"`, `""`)...), '"'), nil
}

func (w *tsv) Write(b *table.Batch) error {
	cells, err := b.Cells()
	if err != nil {
		return err
	}
	dst := w.buffer[:0]
	if !w.started {
		w.started = true
		for c := range cells {
			if c > 0 {
				dst = append(dst, w.separator)
			}
			from := len(dst)
			if dst, err = w.field(append(dst, cells[c].Name...), from, 0, cells[c].Name); err != nil {
				return err
			}
		}
		dst = append(dst, '\n')
	}
	for i := range b.Len() {
		for c := range cells {
			if c > 0 {
				dst = append(dst, w.separator)
			}
			if cells[c].Null(i) {
				continue
			}
			from := len(dst)
			dst = plain(dst, &cells[c], i)
			if cells[c].Kind == table.Text || cells[c].Kind == table.List {
				if dst, err = w.field(dst, from, b.Row(i), cells[c].Name); err != nil {
					return err
				}
			}
		}
		if dst, err = buffered(w.to, append(dst, '\n')); err != nil {
			return err
		}
	}
	w.buffer = dst
	return flush(w.to, dst)
}

// plain appends a value as text without quotation marks. A comma in an address of a list is written as %2C.
func plain(dst []byte, c *table.Cells, i int) []byte {
	if c.List == nil {
		return c.Append(dst, i)
	}
	addresses := c.Name == SeenColumns[0].URLs || c.Name == SeenColumns[1].URLs
	for n, text := range c.List(i) {
		if n > 0 {
			dst = append(dst, ',')
		}
		if addresses {
			text = strings.ReplaceAll(text, ",", "%2C")
		}
		dst = append(dst, text...)
	}
	return dst
}

func (w *tsv) Close() error { return nil }

// moses has the texts alone, line n of the one file being the translation of line n of the other.
type moses struct {
	to      []io.Writer
	names   [2]string
	breaks  *breaker
	buffers [2][]byte
	of      [2]string // languages of the rows before; empty: there are none, or they have none
}

func newMoses(to []io.Writer, opts FormatOptions) Writer {
	return &moses{to: to, names: [2]string{opts.SourceColumn, opts.TargetColumn}, breaks: newBreaker(opts.Breaks, "\n\r")}
}

func (w *moses) Write(b *table.Batch) error {
	for side, name := range []string{table.SourceLanguage, table.TargetLanguage} {
		if !b.Has(name) {
			continue
		}
		codes, err := b.Texts(name)
		if err != nil {
			return err
		}
		for i := range b.Len() {
			code, _ := codes(i)
			if w.of[side] == "" {
				w.of[side] = code
			}
			if code != w.of[side] {
				return badinput.Errorf("row %d has the %s %q and others %q, and moses has one language in a file: choose the rows with --where",
					b.Row(i), name, code, w.of[side])
			}
		}
	}
	for side, name := range w.names {
		texts, err := b.Texts(name)
		if err != nil {
			return err
		}
		dst := w.buffers[side][:0]
		for i := range b.Len() {
			text, _ := texts(i)
			from := len(dst)
			if dst, err = w.breaks.write(append(dst, text...), from, b.Row(i), name); err != nil {
				return err
			}
			if dst, err = buffered(w.to[side], append(dst, '\n')); err != nil {
				return err
			}
		}
		w.buffers[side] = dst
		if err := flush(w.to[side], dst); err != nil {
			return err
		}
	}
	return nil
}

func (w *moses) Close() error { return nil }

// jsonl has an object on each line.
type jsonl struct {
	to     io.Writer
	buffer []byte
	text   []byte
}

func newJSONL(to []io.Writer, _ FormatOptions) Writer { return &jsonl{to: to[0]} }

func (w *jsonl) Write(b *table.Batch) error {
	cells, err := b.Cells()
	if err != nil {
		return err
	}
	names := make([][]byte, len(cells))
	for c := range cells {
		names[c] = append(quote(nil, []byte(cells[c].Name)), ':')
	}
	dst := w.buffer[:0]
	for i := range b.Len() {
		for c := range cells {
			dst = append(dst, "{,"[min(c, 1)])
			dst = append(dst, names[c]...)
			dst = w.value(dst, &cells[c], i)
		}
		if dst, err = buffered(w.to, append(dst, "}\n"...)); err != nil {
			return err
		}
	}
	w.buffer = dst
	return flush(w.to, dst)
}

func (w *jsonl) value(dst []byte, c *table.Cells, i int) []byte {
	switch {
	case c.Null(i):
		return append(dst, "null"...)
	case c.List != nil:
		dst = append(dst, '[')
		for n, text := range c.List(i) {
			if n > 0 {
				dst = append(dst, ',')
			}
			dst = quote(dst, []byte(text))
		}
		return append(dst, ']')
	case c.Kind == table.Number:
		from := len(dst)
		dst = c.Append(dst, i)
		if last := dst[len(dst)-1]; last == 'N' || last == 'f' { // NaN and infinities are no JSON
			return append(dst[:from], "null"...)
		}
		return dst
	}
	w.text = c.Append(w.text[:0], i)
	if c.JSON {
		if value := bytes.NewBuffer(dst); json.Compact(value, w.text) == nil {
			return value.Bytes()
		}
	}
	return quote(dst, w.text)
}

// quote appends a text as a JSON string. Characters other than ASCII stay as they are.
func quote(dst, text []byte) []byte {
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' {
			return quoteRare(dst, text)
		}
	}
	if !utf8.Valid(text) {
		return quoteRare(dst, text)
	}
	return append(append(append(dst, '"'), text...), '"')
}

func quoteRare(dst, text []byte) []byte {
	quoted, _ := json.Marshal(string(text)) // a string can always be encoded
	return append(dst, quoted...)
}

func (w *jsonl) Close() error { return nil }
