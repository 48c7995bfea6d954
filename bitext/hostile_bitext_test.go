package bitext_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"

	"bitextmine/bitext"
	"bitextmine/bitext/table"
	"bitextmine/internal/badinput"
)

const hostileMemory = 512 << 20 // bytes

// bitextTemplate is a bitext file of one row.
func bitextTemplate() File {
	file := File{Rows: 1}
	for _, field := range bitext.Schema(bitext.Metadata{}).Fields() {
		c := Column{Name: field.Name, Nullable: field.Nullable}
		body := make([]byte, 4) // the number zero or the empty string
		switch c.Type = physicalType(field.Type); c.Type {
		case FixedBytes:
			c.Length, body = 16, make([]byte, 16)
		case Int64:
			body = make([]byte, 8)
		case Boolean:
			body = make([]byte, 1)
		case ByteArray:
			c.Converted = 1
		}
		if c.Nullable {
			body = Levels(Run(1, 0))
		}
		if c.Name == "reasons" {
			c.Name, c.Repeated = "reasons.list.element", true
			none := Levels(Run(1, 0))
			body = slices.Concat(none, none)
		}
		c.Pages = []Page{{Values: 1, Body: body}}
		file.Columns = append(file.Columns, c)
	}
	return file
}

// physicalType is the Parquet type in which a column of the schema is stored.
func physicalType(t arrow.DataType) int32 {
	switch t.ID() {
	case arrow.FIXED_SIZE_BINARY:
		return FixedBytes
	case arrow.FLOAT32:
		return Float
	case arrow.UINT8, arrow.UINT32:
		return Int32
	case arrow.UINT64:
		return Int64
	case arrow.BOOL:
		return Boolean
	default: // strings, dictionaries of them, lists of them
		return ByteArray
	}
}

// TestHostileBitext reads files with false metadata, as bitext and as a table to score.
func TestHostileBitext(t *testing.T) {
	readers := map[string]func(path string) error{
		"bitext": func(path string) error {
			r, err := bitext.Open(path)
			if err != nil {
				return err
			}
			defer r.Close()
			for _, err := range r.Rows(t.Context()) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"texts": func(path string) error {
			return table.EachPair(t.Context(), path, table.SourceText, table.TargetText, func(_, _ string) error { return nil })
		},
		"table": func(path string) error {
			return table.AddColumns(t.Context(), path, path+".out", table.DefaultOptions(), 1, table.Values{Name: "own", Float32: []float32{1}})
		},
	}
	good := bitextTemplate()
	files := Hostile(good, 0)
	good.Metadata = [][2]string{{"ARROW:schema", ManyFields()}}
	files["an Arrow schema of 2^60 fields"] = good.Bytes()
	for kind, read := range readers {
		if err := read(Save(t, bitextTemplate().Bytes())); err != nil {
			t.Errorf("%s: the file that the others are made of: %v", kind, err)
		}
		for name, data := range files {
			if kind == "bitext" && strings.HasPrefix(name, "an Arrow schema") {
				continue // this reader does not read it
			}
			t.Run(kind+"/"+name, func(t *testing.T) {
				Within(t, hostileMemory, func() {
					if err := read(Save(t, data)); !badinput.Is(err) || !strings.Contains(err.Error(), "x.parquet") {
						t.Errorf("%d bytes: %v does not name the file as bad input", len(data), err)
					}
				})
			})
		}
	}
}
