package table

import (
	"fmt"
	"math"
	"strconv"

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
		switch text {
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
	Uint32  []uint32
	Uint64  []uint64
	Bool    []bool
	Text    []string
	List    [][]string
	Known   []bool // known values of a Text or Uint32 column; nil means that all are known
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
