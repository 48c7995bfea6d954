package table

import (
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
)

// inside reports whether one of the paths, such as translation.de, leads into a column, and none is its name.
func inside(column string, paths [2]string) bool {
	return !slices.Contains(paths[:], column) && slices.ContainsFunc(paths[:], func(path string) bool { return strings.HasPrefix(path, column+".") })
}

// unnested replaces structs that paths lead into by their fields, which get the names of their paths.
func unnested(record arrow.Record, paths [2]string) arrow.Record {
	fields, columns, nested := []arrow.Field(nil), []arrow.Array(nil), false
	for i, field := range record.Schema().Fields() {
		of, ok := record.Column(i).(*array.Struct)
		if !ok || !inside(field.Name, paths) {
			fields, columns = append(fields, field), append(columns, record.Column(i))
			continue
		}
		nested = true
		for j, child := range of.DataType().(*arrow.StructType).Fields() {
			child.Name = field.Name + "." + child.Name
			fields, columns = append(fields, child), append(columns, of.Field(j))
		}
	}
	if !nested {
		return record
	}
	metadata := record.Schema().Metadata()
	return unnested(array.NewRecord(arrow.NewSchema(fields, &metadata), columns, record.NumRows()), paths)
}

// unnest does the same with a line's object.
func (o *object) unnest(paths [2]string) error {
	for i := 0; i < len(o.keys); {
		key, value := o.keys[i], o.values[i]
		if len(value) == 0 || value[0] != '{' || !inside(key, paths) {
			i++
			continue
		}
		var child object
		if err := child.decode(string(value)); err != nil {
			return err
		}
		for j := range child.keys {
			child.keys[j] = key + "." + child.keys[j]
		}
		o.keys, o.values = slices.Replace(o.keys, i, i+1, child.keys...), slices.Replace(o.values, i, i+1, child.values...)
	}
	return nil
}
