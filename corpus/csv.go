package corpus

import (
	"bytes"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// csvDecoder reads a header with the column names, then records, as RFC 4180 has them: a field in quotation marks may
// have separators and line breaks, and two quotation marks stand for one. The separator is a comma, or a semicolon if
// the header has that and no comma. Line numbers are those of records, the header's being 1.
type csvDecoder struct {
	in        *input.LineReader
	separator byte
	width     int
	at        []int // as in tsvDecoder
	records   uint64
	joined    []byte // lines of a record
	fields    [][]byte
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
	line, excess, err := d.in.Next()
	if err != nil {
		return err
	}
	d.records++
	d.joined = append(d.joined[:0], line...)
	for excess == 0 && bytes.Count(d.joined, []byte(`"`))%2 == 1 { // a quotation mark is open
		more, n, err := d.in.Next()
		if err != nil {
			break // at the end of the file it is malformed; another error comes again
		}
		d.joined = append(append(d.joined, '\n'), more...)
		if excess = n; len(d.joined) > d.in.Max {
			excess = int64(len(d.joined))
		}
	}
	if !rec.reset(d.records+1, excess, d.in.Max) || isBlank(d.joined) {
		return nil
	}
	if !d.split(d.joined) {
		rec.malformed("a quotation mark is not closed, or stands within a field")
		return nil
	}
	if len(d.fields) != d.width {
		rec.malformed("%d fields, the header has %d", len(d.fields), d.width)
		return nil
	}
	for field, at := range d.at {
		if at >= 0 {
			*rec.field(field) = d.fields[at]
		}
	}
	return nil
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
