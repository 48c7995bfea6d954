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
)

// jsonlSource reads JSON objects, one a line. The first batch says which columns there are, and their types: a column
// of whole numbers, of numbers, of truth values, of texts or of lists of texts. Other values are passed on as JSON.
type jsonlSource struct {
	noMetadata
	leaveOut
	name   string
	lines  *corpus.LineFile
	texts  [2]string // columns that have texts, whatever else is in them
	fields []arrow.Field
	at     map[string]int
}

func openJSONL(in input.File, opts Options) (*jsonlSource, error) {
	lines, err := corpus.OpenLines(in, exchange.MaxLineBytes)
	if err != nil {
		return nil, err
	}
	return &jsonlSource{name: in.Path, lines: lines, texts: [2]string{opts.SourceColumn, opts.TargetColumn}, leaveOut: leaveOut{skip: opts.SkipBad}}, nil
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
		o, wrong := object{line: line.Number}, ""
		switch {
		case line.Reason != "":
			wrong = string(line.Reason) + " (" + line.Detail + ")"
		case strings.TrimSpace(line.Text) != "":
			err := o.decode(line.Text)
			if err != nil && o.decode(string(corpus.NaNAsNull([]byte(line.Text)))) == nil {
				err = nil
			}
			if err = errors.Join(err, o.unnest(s.texts)); err != nil {
				wrong = "not a JSON object (" + err.Error() + ")"
			}
		}
		if wrong == "" {
			objects = append(objects, o)
		} else if err := s.refuse(s.name, line.Number, wrong); err != nil {
			return nil, err
		}
	}
	if s.at == nil {
		s.infer(objects)
	}
	record, err := s.record(objects)
	return record, errors.Join(err, ctx.Err())
}

func (o *object) decode(text string) error {
	o.keys, o.values = nil, nil
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
		if f.Type == wide {
			s.fields[i].Type = arrow.PrimitiveTypes.Int64
		}
		if f.Type == arrow.Null || slices.Contains(s.texts[:], f.Name) {
			s.fields[i].Type = arrow.BinaryTypes.String
		} else if f.Type == rawJSON {
			s.fields[i].Metadata = markJSON
		}
	}
}

func typeOf(value json.RawMessage) arrow.DataType {
	switch c := value[0]; {
	case c == 'n':
		return arrow.Null
	case c == '"':
		return arrow.BinaryTypes.String
	case c == 't', c == 'f':
		return arrow.FixedWidthTypes.Boolean
	case c == '-' || '0' <= c && c <= '9':
		_, err := strconv.ParseInt(string(value), 10, 64)
		_, exact := inFloat(value)
		switch {
		case err == nil && exact:
			return arrow.PrimitiveTypes.Int64
		case err == nil:
			return wide
		case exact:
			return arrow.PrimitiveTypes.Float64
		}
	case c == '[':
		var list []string
		if json.Unmarshal(value, &list) == nil {
			return listType
		}
	}
	return rawJSON
}

// inFloat is a number as a float64, and whether that gives it again; of a whole number every digit.
func inFloat(value json.RawMessage) (float64, bool) {
	v, err := strconv.ParseFloat(string(value), 64)
	whole := !bytes.ContainsAny(value, ".eE")
	return v, err == nil && (!whole || strconv.FormatFloat(v, 'f', -1, 64) == string(value))
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
	case a == wide && b == arrow.PrimitiveTypes.Int64, b == wide && a == arrow.PrimitiveTypes.Int64:
		return wide
	}
	return rawJSON
}

func (s *jsonlSource) record(objects []object) (arrow.Record, error) {
	create := func() *array.RecordBuilder {
		return array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(s.fields, nil))
	}
	builder, trial := create(), create() // nobody reads what was tried
	set := make([]bool, len(s.fields))
	for _, o := range objects {
		if s.skip && s.add(trial, &o, set) != "" {
			s.count++
			trial = create() // its columns differ in length
			continue
		}
		if wrong := s.add(builder, &o, set); wrong != "" {
			return nil, refuse(s.name, o.line, wrong)
		}
	}
	return builder.NewRecord(), nil
}

// add adds an object to the columns; set is memory for it. What it returns says why it cannot be added, and then it is
// there in part.
func (s *jsonlSource) add(builder *array.RecordBuilder, o *object, set []bool) (wrong string) {
	clear(set)
	for i, key := range o.keys {
		at, ok := s.at[key]
		switch {
		case !ok:
			return fmt.Sprintf("the key %q is in none of the first %d objects, which say what columns there are", key, BatchRows)
		case set[at]:
			return fmt.Sprintf("the key %q is there twice", key)
		case !appendJSON(builder.Field(at), o.values[i]):
			return fmt.Sprintf("the value of %q is not of the type %s, as the first objects have it", key, s.fields[at].Type)
		}
		set[at] = true
	}
	for at, ok := range set {
		if !ok {
			builder.Field(at).AppendNull()
		}
	}
	return ""
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
		v, exact := inFloat(value)
		b.Append(v)
		return exact
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

// wide is the type of whole numbers, while columns are found, of which a float64 would lose digits.
var wide = arrow.PrimitiveTypes.Uint64

// rawJSON is the type of values that are passed on as JSON. Texts of a Parquet file may have it, too, so fields of such
// values have the metadata markJSON.
var (
	rawJSON  = arrow.BinaryTypes.LargeString
	markJSON = arrow.NewMetadata([]string{"mine.json"}, []string{"true"})
	listType = arrow.ListOf(arrow.BinaryTypes.String)
)

// marked reports whether a field has values that are passed on as JSON.
func marked(f arrow.Field) bool {
	return f.Type.ID() == rawJSON.ID() && f.HasMetadata() && f.Metadata.FindKey(markJSON.Keys()[0]) >= 0
}
