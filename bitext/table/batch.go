package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"bitextmine/internal/badinput"
	"bitextmine/internal/spelling"
)

// Batch is some rows of a table. It is not changed once it is made; several goroutines may read it.
type Batch struct {
	rows    int
	fields  []arrow.Field
	columns []arrow.Array
	first   uint64   // number of rows before it
	numbers []uint64 // row numbers in the file, from 1; nil: those after first
}

func batchOf(record arrow.Record, first uint64) *Batch {
	fields := slices.Clone(record.Schema().Fields())
	for i := range fields {
		if marked(fields[i]) {
			fields[i].Metadata = markJSON
			continue
		}
		fields[i].Metadata = arrow.Metadata{} // the Parquet reader leaves its numbers of columns there
	}
	return &Batch{rows: int(record.NumRows()), fields: fields, columns: record.Columns(), first: first}
}

// NewBatch makes a batch of columns with so many rows, before which the table has first rows.
func NewBatch(rows int, first uint64, columns ...Values) (*Batch, error) {
	return (&Batch{rows: rows, first: first}).With(columns...)
}

// Len is the number of rows.
func (b *Batch) Len() int { return b.rows }

// First is the number of rows of the table before this batch.
func (b *Batch) First() uint64 { return b.first }

// Row is the number of a row in the file, from 1, also behind rows that were left out.
func (b *Batch) Row(i int) uint64 {
	if b.numbers != nil {
		return b.numbers[i]
	}
	return b.first + uint64(i) + 1
}

// rowsOf lists the numbers of some rows.
func (b *Batch) rowsOf(rows []int) []uint64 {
	numbers := make([]uint64, len(rows))
	for i, row := range rows {
		numbers[i] = b.Row(row)
	}
	return numbers
}

// Columns lists the columns.
func (b *Batch) Columns() []Column {
	columns := make([]Column, len(b.fields))
	for i, f := range b.fields {
		columns[i] = Column{f.Name, kindOf(f.Type)}
	}
	return columns
}

func columnOf(b *Batch, name string) (arrow.Array, error) {
	names := make([]string, len(b.fields))
	for i, f := range b.fields {
		if f.Name == name {
			return b.columns[i], nil
		}
		names[i] = f.Name
	}
	return nil, badinput.Errorf("there is no column %q: %s", name,
		spelling.Asked(name, names, "name one of "+strings.Join(names, ", ")))
}

// Texts gives a column's texts by row; known is false for a null.
func (b *Batch) Texts(name string) (func(i int) (text string, known bool), error) {
	values, err := columnOf(b, name)
	if err != nil {
		return nil, err
	}
	if texts := textsOf(values); texts != nil {
		return texts, nil
	}
	return nil, notA(name, "texts", values.DataType())
}

// Numbers gives a column's numbers by row, NaN for a null. Texts are read as numbers, as text formats have them.
func (b *Batch) Numbers(name string) (func(i int) float64, error) {
	values, err := columnOf(b, name)
	if err != nil {
		return nil, err
	}
	if numbers := numbersOf(values); numbers != nil {
		return numbers, nil
	}
	return nil, notA(name, "numbers", values.DataType())
}

// Keep tells which rows are kept, by the column keep: all where there is none. A value that is neither true nor false
// is a badinput error.
func (b *Batch) Keep() (func(i int) bool, error) {
	if !b.Has("keep") {
		return func(int) bool { return true }, nil
	}
	keep, err := b.Numbers("keep")
	if err != nil {
		return nil, err
	}
	for i := range b.rows {
		if v := keep(i); v != 0 && v != 1 {
			return nil, badinput.Errorf("row %d has neither true nor false in the column keep: correct it", b.Row(i))
		}
	}
	return func(i int) bool { return keep(i) == 1 }, nil
}

// Lists gives a column's lists of texts by row.
func (b *Batch) Lists(name string) (func(i int) []string, error) {
	values, err := columnOf(b, name)
	if err != nil {
		return nil, err
	}
	if lists := listsOf(values); lists != nil {
		return lists, nil
	}
	return nil, notA(name, "lists of texts", values.DataType())
}

// Has reports whether there is a column of a name.
func (b *Batch) Has(name string) bool {
	return slices.ContainsFunc(b.fields, func(f arrow.Field) bool { return f.Name == name })
}

// With returns the batch with columns added at the end. A column of the same name is replaced where it stands.
func (b *Batch) With(added ...Values) (*Batch, error) {
	out := &Batch{b.rows, slices.Clone(b.fields), slices.Clone(b.columns), b.first, b.numbers}
	for _, v := range added {
		values, nullable, err := v.array(b.rows)
		if err != nil {
			return nil, err
		}
		field := arrow.Field{Name: v.Name, Type: values.DataType(), Nullable: nullable}
		if at := slices.IndexFunc(out.fields, func(f arrow.Field) bool { return f.Name == v.Name }); at >= 0 {
			out.fields[at], out.columns[at] = field, values
		} else {
			out.fields, out.columns = append(out.fields, field), append(out.columns, values)
		}
	}
	return out, nil
}

// Usual returns the batch with two columns as the usual texts: first, and under their names. Another column of such a
// name is left out. A batch whose texts have these names already stays as it is.
func (b *Batch) Usual(source, target string) (*Batch, error) {
	if source == SourceText && target == TargetText {
		return b, nil
	}
	names := []string{source, target}
	for _, f := range b.fields {
		if !slices.Contains([]string{source, target, SourceText, TargetText}, f.Name) {
			names = append(names, f.Name)
		}
	}
	out, err := b.Only(names)
	if err == nil {
		out.fields[0].Name, out.fields[1].Name = SourceText, TargetText
	}
	return out, err
}

// Slice returns the rows from one to before another.
func (b *Batch) Slice(from, to int) *Batch {
	out := &Batch{rows: to - from, fields: b.fields, columns: make([]arrow.Array, len(b.columns)), first: b.first + uint64(from)}
	if b.numbers != nil {
		out.numbers = b.numbers[from:to]
	}
	for i, values := range b.columns {
		out.columns[i] = array.NewSlice(values, int64(from), int64(to))
	}
	return out
}

func recordOf(b *Batch) arrow.Record {
	return array.NewRecord(arrow.NewSchema(b.fields, nil), b.columns, int64(b.rows))
}

func splitList(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// take builds a column of some rows of another.
func take(values arrow.Array, rows []int) (arrow.Array, error) {
	if d, ok := values.(*array.Dictionary); ok {
		indices, err := take(d.Indices(), rows)
		if err != nil {
			return nil, err
		}
		return array.NewDictionaryArray(d.DataType(), indices, d.Dictionary()), nil
	}
	builder := array.NewBuilder(memory.DefaultAllocator, values.DataType())
	builder.Reserve(len(rows))
	add, err := adder(builder, values)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		add(row)
	}
	return builder.NewArray(), nil
}

// adder adds what one column has to the builder of another: values and nulls, in lists, too.
func adder(to array.Builder, values arrow.Array) (func(row int), error) {
	add, err := valueAdder(to, values)
	return func(row int) {
		if values.IsNull(row) {
			to.AppendNull()
		} else {
			add(row)
		}
	}, err
}

func valueAdder(to array.Builder, values arrow.Array) (func(row int), error) {
	switch a := values.(type) {
	case *array.String:
		b := to.(*array.StringBuilder)
		return func(row int) { b.Append(a.Value(row)) }, nil
	case *array.LargeString:
		b := to.(*array.LargeStringBuilder)
		return func(row int) { b.Append(a.Value(row)) }, nil
	case *array.Boolean:
		b := to.(*array.BooleanBuilder)
		return func(row int) { b.Append(a.Value(row)) }, nil
	case *array.FixedSizeBinary:
		b := to.(*array.FixedSizeBinaryBuilder)
		return func(row int) { b.Append(a.Value(row)) }, nil
	case *array.Int32:
		return copied(to.(*array.Int32Builder), a), nil
	case *array.Int64:
		return copied(to.(*array.Int64Builder), a), nil
	case *array.Uint8:
		return copied(to.(*array.Uint8Builder), a), nil
	case *array.Uint32:
		return copied(to.(*array.Uint32Builder), a), nil
	case *array.Uint64:
		return copied(to.(*array.Uint64Builder), a), nil
	case *array.Float32:
		return copied(to.(*array.Float32Builder), a), nil
	case *array.Float64:
		return copied(to.(*array.Float64Builder), a), nil
	case *array.Timestamp: // the text of one fails where its time zone is unknown here
		return copied(to.(*array.TimestampBuilder), a), nil
	case *array.List:
		b := to.(*array.ListBuilder)
		add, err := adder(b.ValueBuilder(), a.ListValues())
		return func(row int) {
			b.Append(true)
			from, end := a.ValueOffsets(row)
			for i := from; i < end; i++ {
				add(int(i))
			}
		}, err
	}
	// Rare types take the way over their text.
	if _, ok := to.(interface{ AppendValueFromString(string) error }); !ok {
		return nil, fmt.Errorf("%s cannot be copied row by row: leave the column out", values.DataType())
	}
	return func(row int) {
		if err := to.AppendValueFromString(values.ValueStr(row)); err != nil {
			panic(fmt.Errorf("copy %s: %w", values.DataType(), err))
		}
	}, nil
}

func copied[T any](to interface{ Append(T) }, from numeric[T]) func(row int) {
	return func(row int) { to.Append(from.Value(row)) }
}

// Join puts batches of the same columns together.
func Join(batches []*Batch) (*Batch, error) {
	out := &Batch{fields: slices.Clone(batches[0].fields), first: batches[0].first}
	for _, b := range batches {
		out.rows += b.rows
		for i := range b.rows {
			out.numbers = append(out.numbers, b.Row(i))
		}
	}
	for c := range out.fields {
		parts := make([]arrow.Array, len(batches))
		for i, b := range batches {
			parts[i] = b.columns[c]
		}
		joined, err := array.Concatenate(parts, memory.DefaultAllocator)
		if err != nil {
			return nil, fmt.Errorf("join batches: %w", err)
		}
		out.columns = append(out.columns, joined)
	}
	return out, nil
}
