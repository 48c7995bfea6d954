package corpus

import (
	"bytes"
	"fmt"
	"strings"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// record is one line or row from a decoder. Its bytes are valid until the next call.
type record struct {
	line           uint64 // line from 1; in Parquet the row number
	text, doc, url []byte
	meta           [][]byte // values by Options.Metadata
	reason         Reason   // why it cannot be used; "" if the decoder found no problem
	detail         string   // details of the error, for messages
	left           int      // lines of the text that are in another language and left out
}

// field is where the value of the i-th of Options.columns belongs.
func (rec *record) field(i int) *[]byte {
	switch i {
	case 0:
		return &rec.text
	case 1:
		return &rec.doc
	case 2:
		return &rec.url
	}
	return &rec.meta[i-firstMetadata]
}

// decoder reads the records of one format.
type decoder interface {
	// next fills rec with the next record, or returns io.EOF. Any other error ends the file.
	next(rec *record) error
	// lines is the number of lines with sentences that the decoder has read, by its own count.
	lines() uint64
}

// reset clears rec and sets its line number. It returns false, with the reason in rec, if the line is too long.
func (rec *record) reset(line uint64, excess int64, max int) (usable bool) {
	clear(rec.meta)
	*rec = record{line: line, meta: rec.meta}
	if excess > 0 {
		rec.reason, rec.detail = ReasonTooLong, fmt.Sprintf("%d bytes, at most %d are read", excess, max)
		return false
	}
	return true
}

func (rec *record) malformed(format string, args ...any) {
	rec.reason, rec.detail = ReasonMalformed, fmt.Sprintf(format, args...)
}

// textDecoder reads one sentence per line.
type textDecoder struct{ in *input.LineReader }

func (d *textDecoder) lines() uint64 { return d.in.Number }

func (d *textDecoder) next(rec *record) error {
	line, excess, err := d.in.Next()
	if err != nil {
		return err
	}
	if rec.reset(d.in.Number, excess, d.in.Max) {
		rec.text = line
	}
	return nil
}

// buccDecoder reads id<TAB>sentence. The first tab is the separator; later tabs are white space in the sentence.
type buccDecoder struct{ in *input.LineReader }

func (d *buccDecoder) lines() uint64 { return d.in.Number }

func (d *buccDecoder) next(rec *record) error {
	line, excess, err := d.in.Next()
	if err != nil {
		return err
	}
	if !rec.reset(d.in.Number, excess, d.in.Max) || isBlank(line) {
		return nil
	}
	id, text, found := bytes.Cut(line, []byte("\t"))
	if !found || len(id) == 0 {
		rec.malformed("not id<TAB>sentence")
		return nil
	}
	rec.doc, rec.text = id, text
	return nil
}

// tsvDecoder reads a header with the column names, then one record per line. There is no quoting: a quotation mark is
// part of its field.
type tsvDecoder struct {
	in    *input.LineReader
	width int   // fields per line
	at    []int // column numbers, by Options.columns; -1 if there is none
}

func newTSVDecoder(in *input.LineReader, opts Options) (*tsvDecoder, error) {
	header, excess, err := in.Next()
	if err != nil {
		return nil, err // io.EOF if the file is empty, which the reader reports
	}
	if excess > 0 {
		return nil, badinput.Errorf("%s:1: the header is %d bytes long; is this TSV? name the format", in.Name, excess)
	}
	columns := strings.Split(string(header), "\t")
	at, err := opts.columnsAt(in.Name, columns)
	return &tsvDecoder{in: in, width: len(columns), at: at}, err
}

// columnsAt finds the places of Options.columns in the header of a file; -1 if there is none.
func (o Options) columnsAt(name string, header []string) (at []int, err error) {
	for field, want := range o.columns() {
		at = append(at, -1)
		if want == "" {
			continue
		}
		for i, c := range header {
			if c == want {
				at[field] = i
			}
		}
		if at[field] < 0 {
			return nil, o.noColumn(name+":1", want, header)
		}
	}
	return at, nil
}

func (d *tsvDecoder) lines() uint64 { return d.in.Number - 1 }

func (d *tsvDecoder) next(rec *record) error {
	line, excess, err := d.in.Next()
	if err != nil {
		return err
	}
	if !rec.reset(d.in.Number, excess, d.in.Max) || isBlank(line) {
		return nil
	}
	if n := bytes.Count(line, []byte("\t")) + 1; n != d.width {
		rec.malformed("%d fields, the header has %d", n, d.width)
		return nil
	}
	for i := range d.width {
		value, rest, _ := bytes.Cut(line, []byte("\t"))
		line = rest
		for field, at := range d.at {
			if at == i {
				*rec.field(field) = value
			}
		}
	}
	return nil
}

func isBlank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// noColumn returns the error for a missing column. It lists the columns that exist, at most the first 30, and names the
// flags of the setting.
func (o Options) noColumn(where, name string, columns []string) error {
	const maxShown = 30
	shown := columns
	if len(shown) > maxShown {
		shown = shown[:maxShown]
	}
	kind := ""
	switch name {
	case o.TextColumn:
		kind = "text"
	case o.DocColumn:
		kind = "doc"
	case o.URLColumn:
		kind = "url"
	}
	list := fmt.Sprintf("%.2000q", shown)
	switch {
	case o.MadeBy != "" && kind != "":
		return badinput.Errorf("%s: there is no column %q; its columns are %s; make the file with %s", where, name,
			list, o.MadeBy)
	case o.NoFlags && kind != "":
		return badinput.Errorf("%s: there is no column %q; its columns are %s; rename one of them to %[2]q in the file, or "+
			"give a .txt file with a sentence a line", where, name, list)
	case kind == "":
		return badinput.Errorf(
			"%s: there is no column %q; its columns are %s; name one of them in --doc-meta, as SOURCE=TARGET where the sides' names differ",
			where, name, list)
	}
	return badinput.Errorf(
		"%s: there is no column %q; its columns are %s; name one of them with --%[4]s-column, for one side alone with "+
			"--src-%[4]s-column or --tgt-%[4]s-column", where, name, list, kind)
}

// csvDecoder reads a header with the column names, then records, as RFC 4180 has them: a field in quotation marks may
// have separators and line breaks, and two quotation marks stand for one. The separator is a comma, or a semicolon if
// the header has that and no comma. Line numbers count records; the header's is 1. Where several lines are no record,
// as a quotation mark was left out, the first is malformed and the next is read anew.
type csvDecoder struct {
	in        *input.LineReader
	separator byte
	width     int
	at        []int // fields of the columns, as in tsvDecoder
	records   uint64
	joined    []byte // lines of a record
	ahead     []csvLine
	fields    [][]byte
}

// csvLine is a line that was read before its turn. excess is its size if it is too long, else 0.
type csvLine struct {
	text   []byte
	excess int64
}

func newCSVDecoder(in *input.LineReader, opts Options) (*csvDecoder, error) {
	header, excess, err := in.Next()
	if err != nil {
		return nil, err
	}
	if excess > 0 {
		return nil, badinput.Errorf("%s:1: the header is %d bytes long; is this CSV? name the format", in.Name, excess)
	}
	d := &csvDecoder{in: in, separator: ','}
	if bytes.IndexByte(header, ',') < 0 && bytes.IndexByte(header, ';') >= 0 {
		d.separator = ';'
	}
	d.split(header)
	var columns []string
	for _, name := range d.fields {
		columns = append(columns, string(name))
	}
	d.width = len(columns)
	d.at, err = opts.columnsAt(in.Name, columns)
	return d, err
}

func (d *csvDecoder) lines() uint64 { return d.records }

func (d *csvDecoder) next(rec *record) error {
	var first csvLine
	if len(d.ahead) > 0 {
		first, d.ahead = d.ahead[0], d.ahead[1:]
	} else {
		var err error
		if first.text, first.excess, err = d.in.Next(); err != nil {
			return err
		}
	}
	d.records++
	if !rec.reset(d.records+1, first.excess, d.in.Max) || isBlank(first.text) {
		return nil
	}
	d.joined = append(d.joined[:0], first.text...)
	if !isOpen(first.text) || !d.join(first.text) {
		if !d.split(d.joined) {
			rec.malformed("a quotation mark is not closed, or stands within a field")
			return nil
		}
		if len(d.fields) != d.width {
			rec.malformed("%d fields, the header has %d", len(d.fields), d.width)
			return nil
		}
	}
	for field, at := range d.at {
		if at >= 0 {
			*rec.field(field) = d.fields[at]
		}
	}
	return nil
}

// isOpen reports whether a line ends within a field that began in it, or before a field that began before it does.
func isOpen(line []byte) bool { return bytes.Count(line, []byte(`"`))%2 == 1 }

// join divides a record whose first line leaves a quotation mark open. It reports false, and takes that line alone, if
// it and the lines up to the next such one are no record.
func (d *csvDecoder) join(first []byte) bool {
	first = bytes.Clone(first)
	for i := 0; len(d.joined) <= d.in.Max; i++ {
		if i == len(d.ahead) {
			text, excess, err := d.in.Next()
			if err != nil {
				break // it comes again
			}
			d.ahead = append(d.ahead, csvLine{bytes.Clone(text), excess})
		}
		if d.ahead[i].excess > 0 {
			break
		}
		d.joined = append(append(d.joined, '\n'), d.ahead[i].text...)
		if !isOpen(d.ahead[i].text) {
			continue
		}
		if len(d.joined) <= d.in.Max && d.split(d.joined) && len(d.fields) == d.width {
			d.ahead = d.ahead[i+1:]
			return true
		}
		break
	}
	d.joined = append(d.joined[:0], first...)
	return false
}

// split divides a record into its fields, which it changes in place. It reports whether quotation marks are where they
// may be.
func (d *csvDecoder) split(record []byte) bool {
	d.fields = d.fields[:0]
	for {
		if len(record) == 0 || record[0] != '"' {
			field, rest, more := bytes.Cut(record, []byte{d.separator})
			d.fields = append(d.fields, field)
			if record = rest; !more {
				return true
			}
			continue
		}
		field, at := record[1:1], 1
		for ; at < len(record); at++ {
			if record[at] == '"' {
				if at++; at == len(record) || record[at] != '"' {
					break
				}
			}
			field = append(field, record[at])
		}
		d.fields = append(d.fields, field)
		switch {
		case at == len(record):
			return record[at-1] == '"'
		case at > len(record) || record[at] != d.separator:
			return false
		}
		record = record[at+1:]
	}
}
