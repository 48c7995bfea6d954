package corpus

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"bitextmine/corpus/csv"
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
		if at[field] < 0 && !o.optional(field) {
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

// isSentence reports whether a field is more than the name of a column.
func isSentence(field string) bool {
	const words = 6
	last, _ := utf8.DecodeLastRuneInString(field)
	return len(strings.Fields(field)) >= words || strings.ContainsRune(".!?。！？", last)
}

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
	case o.LangColumn:
		kind = "lang"
	}
	missing := fmt.Sprintf("%s: there is no column %q; its columns are %.2000q; ", where, name, shown)
	switch {
	case o.MadeBy == "" && slices.ContainsFunc(columns, isSentence):
		missing += "they look like a record, so the file seems to have no header: add a line with the names of its columns"
		if len(columns) == 2 && o.ColumnFlags == SideFlags {
			missing += ", or give --format bucc, which reads id<TAB>sentence"
		}
	case o.MadeBy != "" && kind != "":
		missing += "make the file with " + o.MadeBy
	case o.ColumnFlags == NoFlags && kind != "":
		missing += fmt.Sprintf("rename one of them to %q in the file, or give a .txt file with a sentence a line", name)
	case kind == "" && o.ColumnFlags == OwnFlags:
		missing += "name one of them with --doc-meta"
	case kind == "":
		missing += "name one of them in --doc-meta, as SOURCE=TARGET where the sides' names differ"
	case kind == "lang" || o.ColumnFlags == OwnFlags:
		missing += fmt.Sprintf("name one of them with --%s-column", kind)
	default:
		missing += fmt.Sprintf("name one of them with --%[1]s-column, for one side alone with --src-%[1]s-column or "+
			"--tgt-%[1]s-column", kind)
	}
	return badinput.Errorf("%s", missing)
}

// csvDecoder reads a header with the column names, then records. Line numbers count records; the header's is 1.
type csvDecoder struct {
	in      *csv.Reader
	at      []int // fields of the columns, as in tsvDecoder
	records uint64
}

func newCSVDecoder(in *input.LineReader, opts Options) (*csvDecoder, error) {
	r, err := csv.NewReader(in)
	if err != nil {
		return nil, err
	}
	d := &csvDecoder{in: r}
	d.at, err = opts.columnsAt(in.Name, r.Header())
	return d, err
}

func (d *csvDecoder) lines() uint64 { return d.records }

func (d *csvDecoder) next(rec *record) error {
	got, err := d.in.Next()
	if err != nil {
		return err
	}
	d.records++
	if !rec.reset(d.records+1, got.Excess, d.in.Max()) {
		return nil
	}
	if got.Malformed != "" {
		rec.malformed("%s", got.Malformed)
		return nil
	}
	for field, at := range d.at {
		if at >= 0 && len(got.Fields) > 0 {
			*rec.field(field) = got.Fields[at]
		}
	}
	return nil
}
