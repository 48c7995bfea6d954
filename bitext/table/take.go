package table

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

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
		if values.IsNull(row) {
			builder.AppendNull()
		} else {
			add(row)
		}
	}
	return builder.NewArray(), nil
}

// adder adds values of one column to the builder of another.
func adder(to array.Builder, values arrow.Array) (func(row int), error) {
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
