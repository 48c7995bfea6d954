package table

import (
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"bitextmine/internal/badinput"
)

// Kind is the type of a column's values.
type Kind uint8

// The kinds. A number may be a truth value, which is 0 or 1.
const (
	Text Kind = iota
	Number
	List  // list of texts
	Other // keys and nested columns, which are passed on
)

// Column describes a column.
type Column struct {
	Name string
	Kind Kind
}

func kindOf(t arrow.DataType) Kind {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING:
		return Text
	case arrow.DICTIONARY:
		return kindOf(t.(*arrow.DictionaryType).ValueType)
	case arrow.BOOL, arrow.INT8, arrow.UINT8, arrow.INT16, arrow.UINT16, arrow.INT32, arrow.UINT32, arrow.INT64,
		arrow.UINT64,
		arrow.FLOAT16, arrow.FLOAT32, arrow.FLOAT64:
		return Number
	case arrow.LIST:
		if kindOf(t.(*arrow.ListType).Elem()) == Text {
			return List
		}
	}
	return Other
}

// textsOf gives the values of a column of texts; known is false for a null.
func textsOf(values arrow.Array) func(i int) (text string, known bool) {
	var at func(i int) string
	switch a := values.(type) {
	case *array.String:
		at = a.Value
	case *array.LargeString:
		at = a.Value
	case *array.Dictionary:
		words := textsOf(a.Dictionary())
		if words == nil {
			return nil
		}
		at = func(i int) string { text, _ := words(a.GetValueIndex(i)); return text }
	default:
		return nil
	}
	return func(i int) (string, bool) {
		if values.IsNull(i) {
			return "", false
		}
		return at(i), true
	}
}

// numeric is an array of numbers of Go type T.
type numeric[T any] interface {
	Value(i int) T
}

func each[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64](a numeric[T]) func(i int) float64 {
	return func(i int) float64 { return float64(a.Value(i)) }
}

// numbersOf gives the values of a column of numbers, or of texts that are numbers, as text formats have them. A null,
// an empty text and a text that is no number are NaN.
func numbersOf(values arrow.Array) func(i int) float64 {
	var at func(i int) float64
	switch a := values.(type) {
	case *array.Boolean:
		at = func(i int) float64 {
			if a.Value(i) {
				return 1
			}
			return 0
		}
	case *array.Int8:
		at = each(a)
	case *array.Uint8:
		at = each(a)
	case *array.Int16:
		at = each(a)
	case *array.Uint16:
		at = each(a)
	case *array.Int32:
		at = each(a)
	case *array.Uint32:
		at = each(a)
	case *array.Int64:
		at = each(a)
	case *array.Uint64:
		at = each(a)
	case *array.Float16:
		at = func(i int) float64 { return float64(a.Value(i).Float32()) }
	case *array.Float32:
		at = each(a)
	case *array.Float64:
		at = each(a)
	default:
		return parsed(textsOf(values))
	}
	return func(i int) float64 {
		if values.IsNull(i) {
			return math.NaN()
		}
		return at(i)
	}
}

func parsed(texts func(i int) (string, bool)) func(i int) float64 {
	if texts == nil {
		return nil
	}
	return func(i int) float64 {
		text, _ := texts(i)
		text = strings.TrimSpace(text) // many write a space behind each comma
		switch strings.ToLower(text) { // programs for tables write TRUE
		case "true":
			return 1
		case "false":
			return 0
		}
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return math.NaN()
		}
		return v
	}
}

// listsOf gives the values of a column of lists of texts. A text is divided at commas, as text formats write lists.
func listsOf(values arrow.Array) func(i int) []string {
	if list, ok := values.(*array.List); ok {
		texts := textsOf(list.ListValues())
		if texts == nil {
			return nil
		}
		return func(i int) (all []string) {
			if list.IsNull(i) {
				return nil
			}
			from, to := list.ValueOffsets(i)
			for j := from; j < to; j++ {
				text, _ := texts(int(j))
				all = append(all, text)
			}
			return all
		}
	}
	texts := textsOf(values)
	if texts == nil {
		return nil
	}
	return func(i int) []string {
		text, _ := texts(i)
		return splitList(text)
	}
}

// Values are a column to add to a batch: one of the slices has a value for each row. A float that is NaN, and a text
// where Known is false, become a null.
type Values struct {
	Name    string
	Float32 []float32
	Uint8   []uint8
	Uint32  []uint32
	Uint64  []uint64
	Bool    []bool
	Text    []string
	List    [][]string
	Known   []bool // known values of a Text, Uint8 or Uint32 column; nil means that all are known
}

func (v *Values) array(rows int) (arrow.Array, bool, error) {
	pool := memory.DefaultAllocator
	var built arrow.Array
	nullable := v.Known != nil
	switch {
	case v.Float32 != nil:
		b := array.NewFloat32Builder(pool)
		valid := make([]bool, len(v.Float32))
		for i, f := range v.Float32 {
			valid[i] = f == f // NaN differs from itself
		}
		b.AppendValues(v.Float32, valid)
		built, nullable = b.NewArray(), true
	case v.Uint8 != nil:
		b := array.NewUint8Builder(pool)
		b.AppendValues(v.Uint8, v.Known)
		built = b.NewArray()
	case v.Uint32 != nil:
		b := array.NewUint32Builder(pool)
		b.AppendValues(v.Uint32, v.Known)
		built, nullable = b.NewArray(), true
	case v.Uint64 != nil:
		b := array.NewUint64Builder(pool)
		b.AppendValues(v.Uint64, nil)
		built = b.NewArray()
	case v.Bool != nil:
		b := array.NewBooleanBuilder(pool)
		b.AppendValues(v.Bool, nil)
		built = b.NewArray()
	case v.Text != nil:
		b := array.NewStringBuilder(pool)
		b.AppendValues(v.Text, v.Known)
		built = b.NewArray()
	default:
		b := array.NewListBuilder(pool, arrow.BinaryTypes.String)
		for _, list := range v.List {
			b.Append(true)
			b.ValueBuilder().(*array.StringBuilder).AppendValues(list, nil)
		}
		built = b.NewArray()
	}
	if built.Len() != rows {
		return nil, false, fmt.Errorf("column %s has %d values for %d rows", v.Name, built.Len(), rows)
	}
	return built, nullable, nil
}

// notA is the error of a column of another kind.
func notA(name, what string, t arrow.DataType) error {
	return badinput.Errorf("column %s holds %s, not %s: name another column", name, t, what)
}

// Cells are the values of a column as text, for formats that are text.
type Cells struct {
	Name string
	Kind Kind
	JSON bool // texts are values in JSON, such as objects
	Null func(i int) bool
	// Append adds a value to dst: a number in the fewest digits that give it again, a truth value as true or false, a
	// date or a time (UTC) as of RFC 3339, keys in hexadecimal digits. A list has no such form.
	Append func(dst []byte, i int) []byte
	// List gives the texts of a list; nil for other columns.
	List func(i int) []string
}

// Cells gives the columns as text. A column of another kind of values (nested ones) is a badinput error.
func (b *Batch) Cells() ([]Cells, error) {
	cells := make([]Cells, len(b.columns))
	for c, values := range b.columns {
		kind := kindOf(b.fields[c].Type)
		cells[c] = Cells{Name: b.fields[c].Name, Kind: kind, JSON: marked(b.fields[c]), Null: values.IsNull}
		switch kind {
		case Text:
			texts := textsOf(values)
			cells[c].Append = func(dst []byte, i int) []byte {
				text, _ := texts(i)
				return append(dst, text...)
			}
		case List:
			if cells[c].List = listsOf(values); cells[c].List == nil {
				return nil, badinput.Errorf("column %s holds %s, which no text format has: leave it out", cells[c].Name,
					values.DataType())
			}
		default:
			if cells[c].Append = appender(values); cells[c].Append == nil {
				return nil, badinput.Errorf("column %s holds %s, which no text format has: leave it out", cells[c].Name,
					values.DataType())
			}
		}
	}
	return cells, nil
}

func appender(values arrow.Array) func(dst []byte, i int) []byte {
	switch a := values.(type) {
	case *array.Boolean:
		return func(dst []byte, i int) []byte { return strconv.AppendBool(dst, a.Value(i)) }
	case *array.Float32:
		return func(dst []byte, i int) []byte { return strconv.AppendFloat(dst, float64(a.Value(i)), 'g', -1, 32) }
	case *array.Float64:
		return func(dst []byte, i int) []byte { return strconv.AppendFloat(dst, a.Value(i), 'g', -1, 64) }
	case *array.Int64:
		return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, a.Value(i), 10) }
	case *array.Uint64:
		return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, a.Value(i), 10) }
	case *array.FixedSizeBinary:
		return func(dst []byte, i int) []byte { return hex.AppendEncode(dst, a.Value(i)) }
	case *array.Binary:
		return func(dst []byte, i int) []byte { return hex.AppendEncode(dst, a.Value(i)) }
	case *array.LargeBinary:
		return func(dst []byte, i int) []byte { return hex.AppendEncode(dst, a.Value(i)) }
	case *array.Date32, *array.Date64:
		return func(dst []byte, i int) []byte { return append(dst, a.ValueStr(i)...) }
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		return func(dst []byte, i int) []byte { return a.Value(i).ToTime(unit).AppendFormat(dst, time.RFC3339Nano) }
	}
	numbers := numbersOf(values)
	if numbers == nil {
		return nil
	}
	// The types that are left have at most 32 bits: whole numbers must not get an exponent.
	return func(dst []byte, i int) []byte { return strconv.AppendFloat(dst, numbers(i), 'f', -1, 64) }
}

// Only returns the batch with these columns, in this order. A column that does not exist is a badinput error.
func (b *Batch) Only(names []string) (*Batch, error) {
	out := &Batch{rows: b.rows, first: b.first, numbers: b.numbers}
	for _, name := range names {
		if _, err := columnOf(b, name); err != nil {
			return nil, err
		}
		at := slices.IndexFunc(b.fields, func(f arrow.Field) bool { return f.Name == name })
		out.fields, out.columns = append(out.fields, b.fields[at]), append(out.columns, b.columns[at])
	}
	return out, nil
}

// Select returns the batch with these rows, in this order.
func (b *Batch) Select(rows []int) (*Batch, error) {
	if len(rows) == b.rows && slices.IsSorted(rows) {
		return b, nil
	}
	out := &Batch{rows: len(rows), fields: slices.Clone(b.fields), columns: make([]arrow.Array, len(b.columns)),
		first: b.first, numbers: b.rowsOf(rows)}
	for c, values := range b.columns {
		taken, err := take(values, rows)
		if err != nil {
			return nil, badinput.Errorf("column %s: %w", b.fields[c].Name, err)
		}
		out.columns[c], out.fields[c].Type = taken, taken.DataType()
	}
	return out, nil
}
