package exchange

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// tsvReader reads one pair a line, without quoting: a quotation mark is part of its field.
type tsvReader struct {
	lines *corpus.LineFile
	name  string
	opts  Options
	row   row
	begun bool
	// headerAt is the number of the line that names the columns, the first that is not blank; 0: it does not.
	headerAt uint64
	guessed  bool          // nothing names the columns, of which there are more than two
	ahead    []corpus.Line // those read to check what columns hold
}

func openTSV(in input.File, opts Options) (*tsvReader, error) {
	lines, err := corpus.OpenLines(in, MaxLineBytes)
	if err != nil {
		return nil, err
	}
	r := &tsvReader{lines: lines, name: in.Path, opts: opts}
	if opts.Layout != nil {
		r.row = opts.Layout.row(opts)
	}
	return r, nil
}

// Next implements Reader.
func (r *tsvReader) Next() (Record, error) {
	line, err := r.line()
	if err != nil {
		return Record{}, err
	}
	// A line that cannot be read, or is blank, does not say what the columns are: the first of the others does.
	if !r.begun && (line.Reason == "" && strings.TrimSpace(line.Text) != "" || r.opts.Layout != nil) {
		r.begun = true
		if err := r.begin(line); err != nil {
			return Record{}, err
		}
		if r.headerAt > 0 || r.opts.Layout != nil && r.opts.Layout.Header {
			return r.Next()
		}
	}
	rec := recordOf(line)
	if rec.Reason == "" {
		r.row.split(line.Text, &rec)
	}
	return rec, nil
}

func (r *tsvReader) line() (corpus.Line, error) {
	if len(r.ahead) == 0 {
		return r.lines.Next()
	}
	line := r.ahead[0]
	r.ahead = r.ahead[1:]
	return line, nil
}

// begin finds the columns, unless a layout says them.
func (r *tsvReader) begin(line corpus.Line) (err error) {
	if r.opts.Layout != nil && r.opts.Layout.unsaid(strings.Split(line.Text, "\t")) {
		return unsaidHeader(r.name)
	}
	if r.opts.Layout == nil {
		var header bool
		if r.row, header, err = r.opts.row(strings.Split(line.Text, "\t"), "tab-separated", r.name, line.Number); header {
			r.headerAt = line.Number
		}
		if err == nil && !header && r.opts.SourceAt == 0 && r.row.width > 2 {
			return r.guess(line)
		}
	}
	return err
}

// unsaid reports whether a first line names the columns of bitext, as mine export writes them, and no layout says so.
func (l *Layout) unsaid(columns []string) bool {
	of := DefaultOptions()
	return !l.Header && slices.Contains(columns, of.SourceColumn) && slices.Contains(columns, of.TargetColumn)
}

func unsaidHeader(name string) error {
	return badinput.Errorf("%s: its first line names the columns: set header: true and columns in its source", name)
}

// row finds the texts in the columns of a first line, which it may name: then it is a header.
func (o Options) row(columns []string, kind, name string, line uint64) (_ row, header bool, err error) {
	source, target, header, ok := o.named(columns)
	if header {
		for _, added := range o.Added {
			if slices.Contains(columns, added) {
				return row{}, true, alreadyHas(name, added)
			}
		}
	}
	switch {
	case ok && max(source, target) >= len(columns):
		return row{}, false, badinput.Errorf("%s:%d: the line has %d %s fields, so there is no column %d: correct --src-column and --tgt-column", name, line,
			len(columns), kind, max(source, target)+1)
	case ok:
		return row{width: len(columns), source: source, target: target}, header, nil
	case o.MustName:
		return row{}, false, badinput.Errorf("%s: its first line does not name both columns %q and %q: name those of the texts, or give their numbers from 1 (--src-column, --tgt-column)",
			name, o.SourceColumn, o.TargetColumn)
	case len(columns) < 2:
		return row{}, false, badinput.Errorf("%s:%d: the line has 1 %s field, but a pair needs two: correct it", name, line, kind)
	}
	return row{width: len(columns), source: 0, target: 1}, false, nil
}

// Close implements Reader.
func (r *tsvReader) Close() error { return r.lines.Close() }

func alreadyHas(name, column string) error {
	return badinput.Errorf("%s has a column %q already: give the new ones another beginning with --prefix", name,
		column)
}

// row divides lines into fields.
type row struct {
	width, source, target int
	where                 map[int][]string // allowed values by column
}

func (l *Layout) row(opts Options) row {
	r := row{width: len(l.Columns), source: last(l.Columns, opts.SourceColumn),
		target: last(l.Columns, opts.TargetColumn), where: map[int][]string{}}
	for name, values := range l.Where {
		r.where[slices.Index(l.Columns, name)] = values
	}
	return r
}

// last is the place of the last column of a name.
func last(columns []string, name string) int {
	at := -1
	for i, c := range columns {
		if c == name {
			at = i
		}
	}
	return at
}

// split gives a record a line's texts, or the reason why it has none.
func (r row) split(line string, rec *Record) {
	if fields := strings.Count(line, "\t") + 1; fields != r.width {
		rec.Reason, rec.Detail = corpus.ReasonMalformed,
			fmt.Sprintf("%d tab-separated fields instead of %d", fields, r.width)
		return
	}
	i := 0
	for field := range strings.SplitSeq(line, "\t") {
		if !r.take(i, field, rec) {
			return
		}
		i++
	}
}

// take gives a record the field of a column. It reports false if a layout leaves the record out because of it.
func (r row) take(column int, field string, rec *Record) bool {
	if values, ok := r.where[column]; ok && !slices.Contains(values, field) {
		rec.Pair, rec.Reason = Pair{}, Filtered
		return false
	}
	switch column {
	case r.source:
		rec.Source = field
	case r.target:
		rec.Target = field
	}
	return true
}

// jsonlReader reads one JSON object a line. The first object must have both keys, so that a misspelt name is reported
// at once; a later one without them is malformed. null is an empty text.
type jsonlReader struct {
	lines   *corpus.LineFile
	name    string
	opts    Options
	checked bool // the first object has both keys
}

func openJSONL(in input.File, opts Options) (*jsonlReader, error) {
	lines, err := corpus.OpenLines(in, MaxLineBytes)
	if err != nil {
		return nil, err
	}
	return &jsonlReader{lines: lines, name: in.Path, opts: opts}, nil
}

// Next implements Reader.
func (r *jsonlReader) Next() (Record, error) {
	line, err := r.lines.Next()
	if err != nil {
		return Record{}, err
	}
	rec := recordOf(line)
	if rec.Reason == "" {
		err = r.decode(line, &rec)
	}
	return rec, err
}

func (r *jsonlReader) decode(line corpus.Line, rec *Record) error {
	object := corpus.JSONObject([]byte(line.Text))
	if object == nil {
		rec.Reason, rec.Detail = corpus.ReasonMalformed, "not a JSON object"
		return nil
	}
	for _, name := range r.opts.Added {
		if _, ok := object[name]; ok {
			return alreadyHas(r.name, name)
		}
	}
	for _, want := range []struct {
		key string
		to  *string
	}{{r.opts.SourceColumn, &rec.Source}, {r.opts.TargetColumn, &rec.Target}} {
		raw, ok := valueAt(object, want.key)
		if !ok && !r.checked {
			return badinput.Errorf("%s:%d: no key %q; the object has %s: name the right one",
				r.name, line.Number, want.key, strings.Join(slices.Sorted(maps.Keys(object)), ", "))
		}
		if !ok {
			rec.Reason, rec.Detail = corpus.ReasonMalformed, fmt.Sprintf("no key %q", want.key)
			continue
		}
		text, ok := corpus.JSONText(raw)
		if !ok {
			rec.Reason, rec.Detail = corpus.ReasonMalformed, fmt.Sprintf("the value of %q is not a text", want.key)
			continue
		}
		*want.to = text
	}
	r.checked = true
	return nil
}

// valueAt is the value of a key, or of a path of keys of objects, such as translation.de.
func valueAt(object map[string]json.RawMessage, key string) (json.RawMessage, bool) {
	if raw, ok := object[key]; ok {
		return raw, true
	}
	outer, inner, found := strings.Cut(key, ".")
	var nested map[string]json.RawMessage
	if !found || json.Unmarshal(object[outer], &nested) != nil {
		return nil, false
	}
	return valueAt(nested, inner)
}

// Close implements Reader.
func (r *jsonlReader) Close() error { return r.lines.Close() }

// alignedReader reads two files of which line n of the one is the translation of line n of the other.
type alignedReader struct {
	names [2]string
	lines [2]*corpus.LineFile
	read  uint64
}

// OpenAligned opens two line-aligned files. They must have the same number of lines; a line may be empty.
func OpenAligned(source, target input.File) (Reader, error) {
	for _, in := range []input.File{source, target} {
		if format := FormatOf(in.Path); format != TSV || IsParquet(in.Path) {
			return nil, badinput.Errorf("%s is no text of lines, which two files are: give it alone if it has both sides", in.Path)
		}
	}
	a, err := corpus.OpenLines(source, MaxLineBytes)
	if err != nil {
		return nil, err
	}
	b, err := corpus.OpenLines(target, MaxLineBytes)
	if err != nil {
		return nil, errors.Join(err, a.Close())
	}
	return &alignedReader{names: [2]string{source.Path, target.Path}, lines: [2]*corpus.LineFile{a, b}}, nil
}

// Next implements Reader.
func (r *alignedReader) Next() (Record, error) {
	rec := Record{Number: r.read + 1}
	var ended [2]bool
	for side, text := range []*string{&rec.Source, &rec.Target} {
		line, err := r.lines[side].Next()
		if ended[side] = errors.Is(err, io.EOF); err != nil && !ended[side] {
			return Record{}, err
		}
		if line.Reason != "" {
			rec.Reason, rec.Detail = line.Reason, r.names[side]+": "+line.Detail
		}
		if !isBlank(line.Text) {
			*text = line.Text
		}
	}
	switch {
	case ended[0] && ended[1]:
		return Record{}, io.EOF
	case ended[0] || ended[1]:
		return Record{}, r.uneven(ended)
	}
	r.read++
	if rec.Reason == "" && rec.Source == "" && rec.Target == "" {
		rec.Reason = corpus.ReasonEmpty
	}
	return rec, nil
}

// uneven counts the lines of the longer file, of which one more than of the other is read.
func (r *alignedReader) uneven(ended [2]bool) error {
	counts := [2]uint64{r.read, r.read}
	for side := range r.lines {
		if ended[side] {
			continue
		}
		counts[side]++
		for {
			if _, err := r.lines[side].Next(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return err
			}
			counts[side]++
		}
	}
	return badinput.Errorf(
		"%s has %d lines but %s has %d: line n of the one must be the translation of line n of the other",
		r.names[0], counts[0], r.names[1], counts[1])
}

// Close implements Reader.
func (r *alignedReader) Close() error { return errors.Join(r.lines[0].Close(), r.lines[1].Close()) }
