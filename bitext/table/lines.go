// Package table reads and writes bitext as a table, whatever its format and columns: Parquet, TSV, CSV, JSON lines,
// TMX, XLIFF, PO and two line-aligned files. It is for programs that pass on columns that they do not know.
//
// A Reader gives batches of rows; a Batch gives columns as texts or numbers, and makes a batch with further columns. A
// table has at least the two columns of texts. Memory does not grow with the file.
package table

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"

	"bitextmine/bitext/exchange"
	"bitextmine/corpus"
	"bitextmine/corpus/csv"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// noMetadata is embedded by the sources of formats that say nothing of themselves.
type noMetadata struct{}

func (noMetadata) metadata() map[string]string { return nil }

// fieldSource reads rows of fields. If the first row names both columns of texts, it names all columns. Otherwise the
// first two columns are the texts and the others column_3 and so on.
type fieldSource struct {
	noMetadata
	leaveOut
	fields
	name    string
	kind    string // what the fields are
	texts   *texts
	first   *row // a first row that names no columns
	guessed bool // nothing names the columns
}

// fields reads the rows of a file, [fields] texts each, io.EOF after the last.
type fields interface {
	next() (row, error)
	Close() error
}

// row is a row's fields, which are valid until the next; a blank one has none.
type row struct {
	number uint64 // number of the line or record
	fields []string
	bad    string // why it cannot be read
}

func openFields(in input.File, from fields, kind string, opts Options) (*fieldSource, error) {
	s := &fieldSource{fields: from, name: in.Path, kind: kind, leaveOut: leaveOut{skip: opts.SkipBad}}
	first, err := from.next()
	for err == nil && (first.bad != "" || len(first.fields) == 0) { // blank lines before a header are no rows
		if first.bad != "" {
			err = s.refuse(in.Path, first.number, first.bad)
		}
		if err == nil {
			first, err = from.next()
		}
	}
	switch {
	case errors.Is(err, io.EOF) && s.count > 0:
		err = badinput.Errorf("%s: none of its %d lines can be read: correct the file", in.Path, s.count)
	case errors.Is(err, io.EOF):
		err = badinput.Errorf("%s: all its lines are blank: give a file with pairs", in.Path)
	}
	if err == nil {
		err = s.begin(first, opts)
	}
	if err != nil {
		return nil, errors.Join(err, from.Close())
	}
	return s, nil
}

func (s *fieldSource) begin(first row, opts Options) error {
	names := slices.Clone(first.fields)
	unifyNames(names)
	named := slices.Contains(names, SourceText) && slices.Contains(names, TargetText)
	switch {
	case opts.SourceAt > 0:
		if most := max(opts.SourceAt, opts.TargetAt); most > len(names) {
			return badinput.Errorf("%s:%d: the line has %d %s fields, so there is no column %d: correct --src-column and --tgt-column", s.name,
				first.number, len(names), s.kind, most)
		}
		if !named {
			names = s.unnamed(first)
		}
		for i, name := range names { // another column has the name
			if name == opts.SourceColumn || name == opts.TargetColumn {
				names[i] = columnName(i)
			}
		}
		names[opts.SourceAt-1], names[opts.TargetAt-1] = opts.SourceColumn, opts.TargetColumn
	case slices.Contains(first.fields, opts.SourceColumn) && slices.Contains(first.fields, opts.TargetColumn):
		names = slices.Clone(first.fields)
	case named && opts.SourceColumn == SourceText && opts.TargetColumn == TargetText:
	case opts.MustName || opts.SourceColumn != SourceText || opts.TargetColumn != TargetText:
		return badinput.Errorf("%s: its first line does not name both columns %q and %q: name those of the texts, or give their numbers from 1 (--src-column, --tgt-column)",
			s.name, opts.SourceColumn, opts.TargetColumn)
	case len(names) < 2:
		return badinput.Errorf("%s:%d: the line has 1 %s field, but a pair needs two: correct it", s.name, first.number, s.kind)
	default:
		names, s.guessed = s.unnamed(first), true
		names[0], names[1] = opts.SourceColumn, opts.TargetColumn
	}
	s.texts = newTexts(names)
	return distinct(s.name, names)
}

// unnamed keeps a first row that is one of texts, and makes names for the columns.
func (s *fieldSource) unnamed(first row) []string {
	first.fields = slices.Clone(first.fields)
	s.first = &first
	names := make([]string, len(first.fields))
	for i := range names {
		names[i] = columnName(i)
	}
	return names
}

func columnName(i int) string { return "column_" + strconv.Itoa(i+1) }

// unifyNames calls the columns of texts in a header as this program does, and with Bitextor's those of the target too,
// which begin with trg_.
func unifyNames(names []string) {
	source, target, ok := exchange.TextColumns(names)
	if !ok {
		return
	}
	if names[target] == "trg_text" {
		for i, name := range names {
			if rest, ok := strings.CutPrefix(name, "trg_"); ok {
				names[i] = "tgt_" + rest
			}
		}
	}
	names[source], names[target] = SourceText, TargetText
}

func (s *fieldSource) next(ctx context.Context) (arrow.Record, error) {
	if s.first != nil {
		first := *s.first
		s.first = nil
		if err := s.add(first); err != nil {
			return nil, err
		}
	}
	for !s.texts.full() {
		row, err := s.fields.next()
		if errors.Is(err, io.EOF) && s.texts.rows > 0 {
			break
		}
		if err == nil {
			err = s.add(row)
		}
		if err != nil {
			return nil, err
		}
	}
	return s.texts.record(), ctx.Err()
}

func (s *fieldSource) add(r row) error {
	width := len(s.texts.columns)
	switch {
	case r.bad != "":
		return s.refuse(s.name, r.number, r.bad)
	case len(r.fields) == 0:
		r.fields = make([]string, width)
	case len(r.fields) != width:
		return s.refuse(s.name, r.number, fmt.Sprintf("%d %s fields instead of %d", len(r.fields), s.kind, width))
	}
	for i, column := range s.texts.columns {
		column.Append(r.fields[i])
	}
	s.texts.rows++
	return nil
}

// tsvFields are lines of fields divided by tabs, without quoting.
type tsvFields struct {
	*corpus.LineFile
	into []string
}

func openTSV(in input.File, opts Options) (*fieldSource, error) {
	lines, err := corpus.OpenLines(in, exchange.MaxLineBytes)
	if err != nil {
		return nil, err
	}
	return openFields(in, &tsvFields{LineFile: lines}, "tab-separated", opts)
}

func (f *tsvFields) next() (row, error) {
	line, err := f.Next()
	if err != nil {
		return row{}, err
	}
	r := row{number: line.Number}
	switch {
	case line.Reason != "":
		r.bad = string(line.Reason) + " (" + line.Detail + ")"
	case strings.TrimSpace(line.Text) != "":
		f.into = slices.AppendSeq(f.into[:0], strings.SplitSeq(line.Text, "\t"))
		r.fields = f.into
	}
	return r, nil
}

// csvFields are records of comma-separated values. Records count, not lines.
type csvFields struct {
	*csv.File
	number uint64
	into   []string
}

func openCSV(in input.File, opts Options) (*fieldSource, error) {
	f, err := csv.Open(in, exchange.MaxLineBytes)
	if err != nil {
		return nil, err
	}
	header := f.Header()
	opts.MustName = opts.MustName || len(header) > 2 && opts.SourceAt == 0 // most files have a header
	return openFields(in, &csvFields{File: f, into: header}, "comma-separated", opts)
}

func (f *csvFields) next() (row, error) {
	f.number++
	r := row{number: f.number}
	if f.number > 1 {
		got, err := f.Next()
		if err != nil {
			return row{}, err
		}
		if r.bad = got.Malformed; got.Excess > 0 {
			r.bad = fmt.Sprintf("the line has %d bytes", got.Excess)
		}
		f.into = f.into[:0]
		for _, field := range got.Fields {
			f.into = append(f.into, string(field))
		}
	}
	r.fields = f.into
	if !utf8.ValidString(strings.Join(r.fields, "")) {
		r.bad = string(corpus.ReasonNotUTF8)
	}
	return r, nil
}

// pairSource reads the pairs of an exchange.Reader: TMX, XLIFF, PO and line-aligned files.
type pairSource struct {
	noMetadata
	leaveOut
	properties
	name    string
	reader  exchange.Reader
	texts   *texts
	langs   []string
	units   bool   // a record without one of the texts is a row nonetheless
	lacking uint64 // records that were left out, as they have no translation
}

func openTMX(in input.File, opts Options) (*pairSource, error) {
	if opts.Source == "" || opts.Target == "" {
		return nil, badinput.Errorf("%s is TMX, which may have many languages: name two with --src and --tgt", in.Path)
	}
	r, err := exchange.Open(in, exchange.TMX,
		exchange.Options{SourceLanguage: opts.Source, TargetLanguage: opts.Target, Properties: true})
	if err != nil {
		return nil, err
	}
	names := []string{opts.SourceColumn, opts.TargetColumn, SourceLanguage, TargetLanguage}
	return &pairSource{name: in.Path, reader: r, texts: newTexts(names), langs: []string{opts.Source, opts.Target},
		units: true, leaveOut: leaveOut{skip: opts.SkipBad}}, nil
}

// openPairs opens PO, or XLIFF, whose languages have to be those that are named, if any are, and are columns.
func openPairs(in input.File, format exchange.Format, opts Options) (*pairSource, error) {
	r, err := exchange.Open(in, format, exchange.Options{SourceLanguage: opts.Source, TargetLanguage: opts.Target})
	if err != nil {
		return nil, err
	}
	names, langs := []string{opts.SourceColumn, opts.TargetColumn}, []string(nil)
	if format == exchange.XLIFF {
		names, langs = append(names, SourceLanguage, TargetLanguage), []string{opts.Source, opts.Target}
	}
	return &pairSource{name: in.Path, reader: r, texts: newTexts(names), langs: langs, leaveOut: leaveOut{skip: opts.SkipBad}}, nil
}

func openAligned(source, target string, opts Options) (*pairSource, error) {
	r, err := exchange.OpenAligned(input.File{Path: source}, input.File{Path: target})
	if err != nil {
		return nil, err
	}
	return &pairSource{name: source, reader: r, texts: newTexts([]string{opts.SourceColumn, opts.TargetColumn}),
		leaveOut: leaveOut{skip: opts.SkipBad}}, nil
}

func (s *pairSource) next(ctx context.Context) (arrow.Record, error) {
	for !s.texts.full() {
		rec, err := s.record()
		if errors.Is(err, io.EOF) && s.texts.rows > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if rec.Reason != "" && rec.Reason != corpus.ReasonEmpty && rec.Reason != exchange.Untranslated && !s.units {
			if err := s.refuse(s.name, rec.Number, string(rec.Reason)+" ("+rec.Detail+")"); err != nil {
				return nil, err
			}
			continue
		}
		if rec.Reason == exchange.Untranslated {
			s.lacking++
			continue
		}
		s.texts.columns[0].Append(rec.Source)
		s.texts.columns[1].Append(rec.Target)
		for i, code := range s.langs {
			s.texts.columns[2+i].Append(cmp.Or(rec.Languages[i], code))
		}
		s.appendTo(s.texts.columns[2+len(s.langs):], rec.Properties)
		s.texts.rows++
	}
	return s.texts.record(), ctx.Err()
}

func (s *pairSource) Close() error { return s.reader.Close() }
