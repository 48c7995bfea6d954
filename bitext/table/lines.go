// Package table reads and writes bitext as a table, whatever its format and columns: Parquet, TSV, JSON lines, TMX and
// two line-aligned files. It is for programs that pass on columns that they do not know.
//
// A Reader gives batches of rows; a Batch gives columns as texts or numbers, and makes a batch with further columns. A
// table has at least the two columns of texts. Memory does not grow with the file.
package table

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"bitextmine/bitext/exchange"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// maxLineBytes is the maximum length of a line: two sentences as long as corpus reads them, with their columns.
const maxLineBytes = 256 << 10

// noMetadata is embedded by the sources of formats that say nothing of themselves.
type noMetadata struct{}

func (noMetadata) metadata() map[string]string { return nil }

// tsvSource reads lines of fields divided by tabs, without quoting. If the first line names both columns of texts, it
// names all columns. Otherwise it is a row; the first two columns are the texts and the others column_3 and so on.
type tsvSource struct {
	noMetadata
	name  string
	lines *corpus.LineFile
	texts *texts
	first *corpus.Line // a first line that is a row
}

func openTSV(in input.File, opts Options) (*tsvSource, error) {
	lines, err := corpus.OpenLines(in, maxLineBytes)
	if err != nil {
		return nil, err
	}
	s := &tsvSource{name: in.Path, lines: lines}
	line, err := lines.Next()
	if err == nil && line.Reason != "" {
		err = refuse(in.Path, 1, string(line.Reason)+" ("+line.Detail+")")
	}
	if err == nil {
		err = s.begin(line, opts)
	}
	if err != nil {
		return nil, errors.Join(err, lines.Close())
	}
	return s, nil
}

func (s *tsvSource) begin(line corpus.Line, opts Options) error {
	names := strings.Split(line.Text, "\t")
	if !slices.Contains(names, opts.SourceColumn) || !slices.Contains(names, opts.TargetColumn) {
		switch {
		case opts.SourceColumn != SourceText || opts.TargetColumn != TargetText:
			return badinput.Errorf("%s: its first line does not name both columns %q and %q: correct the names", s.name,
				opts.SourceColumn, opts.TargetColumn)
		case len(names) < 2:
			return badinput.Errorf("%s:1: the line has 1 tab-separated field, but a pair needs two: correct it", s.name)
		}
		for i := range names {
			names[i] = "column_" + strconv.Itoa(i+1)
		}
		names[0], names[1] = opts.SourceColumn, opts.TargetColumn
		s.first = &line
	}
	s.texts = newTexts(names)
	return distinct(s.name, names)
}

func (s *tsvSource) next(ctx context.Context) (arrow.Record, error) {
	if s.first != nil {
		line := *s.first
		s.first = nil
		if err := s.row(line); err != nil {
			return nil, err
		}
	}
	for !s.texts.full() {
		line, err := s.lines.Next()
		if errors.Is(err, io.EOF) && s.texts.rows > 0 {
			break
		}
		if err == nil {
			err = s.row(line)
		}
		if err != nil {
			return nil, err
		}
	}
	return s.texts.record(), ctx.Err()
}

func (s *tsvSource) row(line corpus.Line) error {
	if line.Reason != "" {
		return refuse(s.name, line.Number, string(line.Reason)+" ("+line.Detail+")")
	}
	fields := strings.Count(line.Text, "\t") + 1
	if fields != len(s.texts.columns) && strings.TrimSpace(line.Text) != "" {
		return refuse(s.name, line.Number,
			fmt.Sprintf("%d tab-separated fields instead of %d", fields, len(s.texts.columns)))
	}
	rest := line.Text
	for _, column := range s.texts.columns {
		var field string
		field, rest, _ = strings.Cut(rest, "\t")
		column.Append(field)
	}
	s.texts.rows++
	return nil
}

func (s *tsvSource) Close() error { return s.lines.Close() }

// pairSource reads the pairs of an exchange.Reader: TMX and line-aligned files.
type pairSource struct {
	noMetadata
	name   string
	reader exchange.Reader
	texts  *texts
	langs  []string
	units  bool // a record without one of the texts is a row nonetheless
}

func openTMX(in input.File, opts Options) (*pairSource, error) {
	if opts.Source == "" || opts.Target == "" {
		return nil, badinput.Errorf("%s is TMX, which may have many languages: name two with --src and --tgt", in.Path)
	}
	r, err := exchange.Open(in, exchange.TMX,
		exchange.Options{SourceLanguage: opts.Source, TargetLanguage: opts.Target})
	if err != nil {
		return nil, err
	}
	names := []string{opts.SourceColumn, opts.TargetColumn, SourceLanguage, TargetLanguage}
	return &pairSource{name: in.Path, reader: r, texts: newTexts(names), langs: []string{opts.Source, opts.Target},
		units: true}, nil
}

func openPO(in input.File, opts Options) (*pairSource, error) {
	r, err := exchange.Open(in, exchange.PO, exchange.Options{})
	if err != nil {
		return nil, err
	}
	return &pairSource{name: in.Path, reader: r, texts: newTexts([]string{opts.SourceColumn, opts.TargetColumn})}, nil
}

func openAligned(source, target string, opts Options) (*pairSource, error) {
	r, err := exchange.OpenAligned(input.File{Path: source}, input.File{Path: target})
	if err != nil {
		return nil, err
	}
	return &pairSource{name: source, reader: r, texts: newTexts([]string{opts.SourceColumn, opts.TargetColumn})}, nil
}

func (s *pairSource) next(ctx context.Context) (arrow.Record, error) {
	for !s.texts.full() {
		rec, err := s.reader.Next()
		if errors.Is(err, io.EOF) && s.texts.rows > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if rec.Reason != "" && rec.Reason != corpus.ReasonEmpty && !s.units {
			return nil, refuse(s.name, rec.Number, string(rec.Reason)+" ("+rec.Detail+")")
		}
		for i, value := range append([]string{rec.Source, rec.Target}, s.langs...) {
			s.texts.columns[i].Append(value)
		}
		s.texts.rows++
	}
	return s.texts.record(), ctx.Err()
}

func (s *pairSource) Close() error { return s.reader.Close() }

// jsonlSource reads JSON objects, one a line. The first batch says which columns there are, and their types: a column
// of whole numbers, of numbers, of truth values, of texts or of lists of texts. Other values are passed on as JSON.
type jsonlSource struct {
	noMetadata
	name   string
	lines  *corpus.LineFile
	fields []arrow.Field
	at     map[string]int
}

func openJSONL(in input.File) (*jsonlSource, error) {
	lines, err := corpus.OpenLines(in, maxLineBytes)
	if err != nil {
		return nil, err
	}
	return &jsonlSource{name: in.Path, lines: lines}, nil
}

// object is a line: its keys in their order, and its values.
type object struct {
	line   uint64
	keys   []string
	values []json.RawMessage
}

func (s *jsonlSource) next(ctx context.Context) (arrow.Record, error) {
	var objects []object
	for len(objects) < BatchRows {
		line, err := s.lines.Next()
		if errors.Is(err, io.EOF) && len(objects) > 0 {
			break
		}
		if err != nil {
			return nil, err
		}
		if line.Reason != "" {
			return nil, refuse(s.name, line.Number, string(line.Reason)+" ("+line.Detail+")")
		}
		o := object{line: line.Number}
		if strings.TrimSpace(line.Text) != "" {
			if err := o.decode(line.Text); err != nil {
				return nil, refuse(s.name, line.Number, "not a JSON object ("+err.Error()+")")
			}
		}
		objects = append(objects, o)
	}
	if s.at == nil {
		s.infer(objects)
	}
	record, err := s.record(objects)
	return record, errors.Join(err, ctx.Err())
}

func (o *object) decode(text string) error {
	d := json.NewDecoder(strings.NewReader(text))
	open, err := d.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('{') {
		return errors.New("it does not begin with {")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		o.keys, o.values = append(o.keys, key.(string)), append(o.values, value)
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object")
	}
	return nil
}

// infer finds the columns of the first objects.
func (s *jsonlSource) infer(objects []object) {
	s.at = map[string]int{}
	for _, o := range objects {
		for i, key := range o.keys {
			at, ok := s.at[key]
			if !ok {
				at = len(s.fields)
				s.at[key] = at
				s.fields = append(s.fields, arrow.Field{Name: key, Type: arrow.Null, Nullable: true})
			}
			s.fields[at].Type = common(s.fields[at].Type, typeOf(o.values[i]))
		}
	}
	for i, f := range s.fields {
		if f.Type == arrow.Null {
			s.fields[i].Type = arrow.BinaryTypes.String
		}
	}
}

// rawJSON is the type of values that are passed on as JSON; nothing else in this package has it.
var (
	rawJSON  = arrow.BinaryTypes.LargeString
	listType = arrow.ListOf(arrow.BinaryTypes.String)
)

func typeOf(value json.RawMessage) arrow.DataType {
	switch c := value[0]; {
	case c == 'n':
		return arrow.Null
	case c == '"':
		return arrow.BinaryTypes.String
	case c == 't', c == 'f':
		return arrow.FixedWidthTypes.Boolean
	case c == '-' || '0' <= c && c <= '9':
		if _, err := strconv.ParseInt(string(value), 10, 64); err == nil {
			return arrow.PrimitiveTypes.Int64
		}
		return arrow.PrimitiveTypes.Float64
	case c == '[':
		var list []string
		if json.Unmarshal(value, &list) == nil {
			return listType
		}
	}
	return rawJSON
}

// common is the type that has the values of both.
func common(a, b arrow.DataType) arrow.DataType {
	number := func(t arrow.DataType) bool {
		return t == arrow.PrimitiveTypes.Int64 || t == arrow.PrimitiveTypes.Float64
	}
	switch {
	case a == b || b == arrow.Null:
		return a
	case a == arrow.Null:
		return b
	case number(a) && number(b):
		return arrow.PrimitiveTypes.Float64
	}
	return rawJSON
}

func (s *jsonlSource) record(objects []object) (arrow.Record, error) {
	builder := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(s.fields, nil))
	set := make([]bool, len(s.fields))
	for _, o := range objects {
		clear(set)
		for i, key := range o.keys {
			at, ok := s.at[key]
			switch {
			case !ok:
				return nil, refuse(s.name, o.line,
					fmt.Sprintf("the key %q is in none of the first %d objects, which say what columns there are", key,
						BatchRows))
			case set[at]:
				return nil, refuse(s.name, o.line, fmt.Sprintf("the key %q is there twice", key))
			case !appendJSON(builder.Field(at), o.values[i]):
				return nil, refuse(s.name, o.line,
					fmt.Sprintf("the value of %q is not of the type %s, as before", key, s.fields[at].Type))
			}
			set[at] = true
		}
		for at, ok := range set {
			if !ok {
				builder.Field(at).AppendNull()
			}
		}
	}
	return builder.NewRecord(), nil
}

func appendJSON(to array.Builder, value json.RawMessage) bool {
	if string(value) == "null" {
		to.AppendNull()
		return true
	}
	switch b := to.(type) {
	case *array.StringBuilder:
		text, ok := corpus.JSONText(value)
		b.Append(text)
		return ok
	case *array.LargeStringBuilder:
		b.Append(string(bytes.TrimSpace(value)))
		return true
	case *array.BooleanBuilder:
		b.Append(value[0] == 't')
		return value[0] == 't' || value[0] == 'f'
	case *array.Int64Builder:
		v, err := strconv.ParseInt(string(value), 10, 64)
		b.Append(v)
		return err == nil
	case *array.Float64Builder:
		v, err := strconv.ParseFloat(string(value), 64)
		b.Append(v)
		return err == nil
	case *array.ListBuilder:
		var list []string
		err := json.Unmarshal(value, &list)
		b.Append(true)
		b.ValueBuilder().(*array.StringBuilder).AppendValues(list, nil)
		return err == nil
	}
	return false
}

func (s *jsonlSource) Close() error { return s.lines.Close() }
