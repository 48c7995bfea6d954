package exchange

import (
	"fmt"
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
	// header says that the first line names the columns.
	header bool
}

func openTSV(in input.File, opts Options) (*tsvReader, error) {
	lines, err := corpus.OpenLines(in, maxLineBytes)
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
	line, err := r.lines.Next()
	if err != nil {
		return Record{}, err
	}
	if !r.begun {
		r.begun = true
		if err := r.begin(line); err != nil {
			return Record{}, err
		}
		if r.header || r.opts.Layout != nil && r.opts.Layout.Header {
			return r.Next()
		}
	}
	rec := recordOf(line)
	if rec.Reason == "" {
		r.row.split(line.Text, &rec)
	}
	return rec, nil
}

// begin finds the columns, unless a layout says them.
func (r *tsvReader) begin(line corpus.Line) error {
	if r.opts.Layout != nil || line.Reason != "" {
		return nil
	}
	columns := strings.Split(line.Text, "\t")
	layout := Layout{Columns: columns}
	r.header = slices.Contains(columns, r.opts.SourceColumn) && slices.Contains(columns, r.opts.TargetColumn)
	switch {
	case r.header:
		r.row = layout.row(r.opts)
		for _, name := range r.opts.Added {
			if slices.Contains(columns, name) {
				return alreadyHas(r.name, name)
			}
		}
	case r.opts.MustName:
		return badinput.Errorf("%s: its first line does not name both columns %q and %q: correct the names", r.name,
			r.opts.SourceColumn, r.opts.TargetColumn)
	case len(columns) < 2:
		return badinput.Errorf("%s:1: the line has 1 tab-separated field, but a pair needs two: correct it", r.name)
	default:
		r.row = row{width: len(columns), source: 0, target: 1}
	}
	return nil
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
		if values, ok := r.where[i]; ok && !slices.Contains(values, field) {
			rec.Pair, rec.Reason = Pair{}, Filtered
			return
		}
		switch i {
		case r.source:
			rec.Source = field
		case r.target:
			rec.Target = field
		}
		i++
	}
}
