package table

import (
	"encoding/hex"
	"slices"
	"strconv"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"

	"bitextmine/internal/badinput"
)

// Cells are the values of a column as text, for formats that are text.
type Cells struct {
	Name string
	Kind Kind
	Null func(i int) bool
	// Append adds a value to dst: a number in the fewest digits that give it again, a truth value as true or false, keys
	// in hexadecimal digits. A list has no such form.
	Append func(dst []byte, i int) []byte
	// List gives the texts of a list; nil for other columns.
	List func(i int) []string
}

// Cells gives the columns as text. A column of another kind of values (nested ones) is a badinput error.
func (b *Batch) Cells() ([]Cells, error) {
	cells := make([]Cells, len(b.columns))
	for c, values := range b.columns {
		kind := kindOf(b.fields[c].Type)
		cells[c] = Cells{Name: b.fields[c].Name, Kind: kind, Null: values.IsNull}
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
	}
	numbers := numbersOf(values)
	if numbers == nil {
		return nil
	}
	return func(dst []byte, i int) []byte { return strconv.AppendFloat(dst, numbers(i), 'g', -1, 64) }
}

// Only returns the batch with these columns, in this order. A column that does not exist is a badinput error.
func (b *Batch) Only(names []string) (*Batch, error) {
	out := &Batch{rows: b.rows, first: b.first}
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
		first: b.first}
	for c, values := range b.columns {
		taken, err := take(values, rows)
		if err != nil {
			return nil, badinput.Errorf("column %s: %w", b.fields[c].Name, err)
		}
		out.columns[c], out.fields[c].Type = taken, taken.DataType()
	}
	return out, nil
}
