// Package csv reads comma-separated values as people and programs write them.
package csv

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// Reader reads records as RFC 4180 has them: a field in quotation marks may have separators and line breaks, and two
// quotation marks stand for one. The separator is what a first line sep=X says, or a comma, or a semicolon if the
// header has that and no comma. Where several lines are no record, as a quotation mark was left out, the first is
// malformed and the next is read anew.
type Reader struct {
	in        *input.LineReader
	separator byte
	said      bool // a line sep=X says the separator
	header    []string
	joined    []byte // lines of a record
	ahead     []line
	fields    [][]byte
}

// line is one that was read before its turn. excess is its size if it is too long, else 0.
type line struct {
	text   []byte
	excess int64
}

// Record is one record. Its fields are valid until the next call; a blank line has none.
type Record struct {
	Fields    [][]byte
	Excess    int64  // size of a line that is too long; else 0
	Malformed string // why it cannot be read
}

// File is a file of records. Close must be called last.
type File struct {
	*Reader
	io.Closer
}

// Open opens an input, decompressed, whose records have at most maxBytes bytes.
func Open(in input.File, maxBytes int) (*File, error) {
	lines, f, err := input.OpenLines(in, maxBytes)
	if err != nil {
		return nil, err
	}
	r, err := NewReader(lines)
	if errors.Is(err, io.EOF) {
		err = badinput.Errorf("%s: the file holds no line; give it content or name another", in.Path)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &File{r, f}, nil
}

// NewReader reads the header.
func NewReader(in *input.LineReader) (*Reader, error) {
	header, excess, err := in.Next()
	if err != nil {
		return nil, err
	}
	if excess > 0 {
		return nil, badinput.Errorf("%s:1: the header is %d bytes long; is this CSV? name the format", in.Name, excess)
	}
	r := &Reader{in: in, separator: ','}
	switch says := bytes.TrimRight(header, " "); {
	case len(says) == len("sep=;") && bytes.HasPrefix(says, []byte("sep=")): // Excel's own line
		r.separator, r.said = says[len(says)-1], true
		if header, excess, err = in.Next(); err != nil || excess > 0 {
			return nil, cmp.Or(err, badinput.Errorf("%s:2: the header is %d bytes long; is this CSV? name the format", in.Name, excess))
		}
	case bytes.IndexByte(header, '\r') >= 0 && bytes.IndexByte(header, '"') < 0:
		return nil, input.CRError(in.Name)
	case bytes.IndexByte(header, ',') < 0 && bytes.IndexByte(header, ';') >= 0:
		r.separator = ';'
	}
	r.joined = append(r.joined, header...)
	if !isOpen(header) || !r.join(header) {
		r.split(r.joined)
	}
	for _, name := range r.fields {
		r.header = append(r.header, string(name))
	}
	return r, nil
}

// Header returns the names of the columns.
func (r *Reader) Header() []string { return slices.Clone(r.header) }

// Separator is what stands between fields, and whether a line before the header says so.
func (r *Reader) Separator() (separator byte, said bool) { return r.separator, r.said }

// Max is the longest record in bytes.
func (r *Reader) Max() int { return r.in.Max }

// Next returns the next record, or io.EOF.
func (r *Reader) Next() (Record, error) {
	var first line
	if len(r.ahead) > 0 {
		first, r.ahead = r.ahead[0], r.ahead[1:]
	} else {
		var err error
		if first.text, first.excess, err = r.in.Next(); err != nil {
			return Record{}, err
		}
	}
	if first.excess > 0 || len(bytes.TrimSpace(first.text)) == 0 {
		return Record{Excess: first.excess}, nil
	}
	r.joined = append(r.joined[:0], first.text...)
	switch {
	case isOpen(first.text) && r.join(first.text):
	case !r.split(r.joined):
		return Record{Malformed: "a quotation mark is not closed, or stands within a field"}, nil
	case len(r.fields) != len(r.header):
		return Record{Malformed: fmt.Sprintf("%d fields, the header has %d", len(r.fields), len(r.header))}, nil
	}
	return Record{Fields: r.fields}, nil
}

// isOpen reports whether a line ends within a field that began in it, or before a field that began before it does.
func isOpen(text []byte) bool { return bytes.Count(text, []byte(`"`))%2 == 1 }

// join divides a record whose first line leaves a quotation mark open. It reports false, and takes that line alone, if
// it and the lines up to the next such one are no record.
func (r *Reader) join(first []byte) bool {
	first = bytes.Clone(first)
	for i := 0; len(r.joined) <= r.in.Max; i++ {
		if i == len(r.ahead) {
			text, excess, err := r.in.Next()
			if err != nil {
				break // it comes again
			}
			r.ahead = append(r.ahead, line{bytes.Clone(text), excess})
		}
		if r.ahead[i].excess > 0 {
			break
		}
		r.joined = append(append(r.joined, '\n'), r.ahead[i].text...)
		if !isOpen(r.ahead[i].text) {
			continue
		}
		if len(r.joined) <= r.in.Max && r.split(r.joined) && (r.header == nil || len(r.fields) == len(r.header)) {
			r.ahead = r.ahead[i+1:]
			return true
		}
		break
	}
	r.joined = append(r.joined[:0], first...)
	return false
}

// split divides a record into its fields, which it changes in place. It reports whether quotation marks are where they
// may be.
func (r *Reader) split(record []byte) bool {
	r.fields = r.fields[:0]
	for {
		if len(record) == 0 || record[0] != '"' {
			field, rest, more := bytes.Cut(record, []byte{r.separator})
			if bytes.IndexByte(field, '\n') >= 0 { // a quotation mark of several lines, each a record
				return false
			}
			r.fields = append(r.fields, field)
			if record = rest; !more {
				return true
			}
			continue
		}
		field, at, closed := record[1:1], 1, false
		for ; at < len(record); at++ {
			if record[at] == '"' {
				if at++; at == len(record) || record[at] != '"' {
					closed = true
					break
				}
			}
			field = append(field, record[at])
		}
		r.fields = append(r.fields, field)
		switch {
		case at == len(record):
			return closed
		case record[at] != r.separator:
			return false
		}
		record = record[at+1:]
	}
}
