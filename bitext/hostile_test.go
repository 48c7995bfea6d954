package bitext

import (
	"slices"
	"strings"
	"testing"

	"bitextmine/internal/badinput"
	"bitextmine/internal/parquettest"
)

const hostileMemory = 512 << 20

// bitextTemplate is a bitext file of one row.
func bitextTemplate() parquettest.File {
	file := parquettest.File{Rows: 1}
	for _, field := range Schema(Metadata{}).Fields() {
		c := parquettest.Column{Name: field.Name, Nullable: field.Nullable}
		body := make([]byte, 4) // the number zero or the empty string
		switch c.Type = int32(physicalType(field.Type)); c.Type {
		case parquettest.FixedBytes:
			c.Length, body = 16, make([]byte, 16)
		case parquettest.Int64:
			body = make([]byte, 8)
		case parquettest.Boolean:
			body = make([]byte, 1)
		case parquettest.ByteArray:
			c.Converted = 1
		}
		if c.Nullable {
			body = parquettest.Levels(parquettest.Run(1, 0))
		}
		if c.Name == "reasons" {
			c.Name, c.Repeated = reasonsPath, true
			none := parquettest.Levels(parquettest.Run(1, 0))
			body = slices.Concat(none, none)
		}
		c.Pages = []parquettest.Page{{Values: 1, Body: body}}
		file.Columns = append(file.Columns, c)
	}
	return file
}

// TestHostileBitext reads files with false metadata, as bitext and as a table to score.
func TestHostileBitext(t *testing.T) {
	readers := map[string]func(path string) error{
		"bitext": func(path string) error {
			r, err := Open(path)
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
		"texts": func(path string) error { return second(ReadTexts(t.Context(), path, "src_text", "tgt_text")) },
		"table": func(path string) error {
			return AddColumns(t.Context(), path, path+".out", []Column{{Name: "own", Float32: []float32{1}, Valid: []bool{true}}})
		},
	}
	good := bitextTemplate()
	files := parquettest.Hostile(good, 0)
	good.Metadata = [][2]string{{arrowSchema, parquettest.ManyFields()}}
	files["an Arrow schema of 2^60 fields"] = good.Bytes()
	for kind, read := range readers {
		if err := read(parquettest.Save(t, bitextTemplate().Bytes())); err != nil {
			t.Errorf("%s: the file that the others are made of: %v", kind, err)
		}
		for name, data := range files {
			if kind == "bitext" && strings.HasPrefix(name, "an Arrow schema") {
				continue // this reader does not read it
			}
			t.Run(kind+"/"+name, func(t *testing.T) {
				parquettest.Within(t, hostileMemory, func() {
					if err := read(parquettest.Save(t, data)); !badinput.Is(err) || !strings.Contains(err.Error(), "x.parquet") {
						t.Errorf("%d bytes: %v does not name the file as bad input", len(data), err)
					}
				})
			})
		}
	}
}

// FuzzTable reads arbitrary bytes as a table to score and copies it with one more column.
func FuzzTable(f *testing.F) {
	f.Add(write(f, sampleRows(3)))
	for _, file := range parquettest.Seeds(bitextTemplate(), 0) {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		path := parquettest.Save(t, data)
		sources, targets, err := ReadTexts(t.Context(), path, "src_text", "tgt_text")
		if err == nil && len(sources) != len(targets) || err != nil && !badinput.Is(err) {
			t.Fatalf("%d sources, %d targets, %v", len(sources), len(targets), err)
		}
		if err == nil {
			column := Column{Name: "own", Uint8: make([]uint8, len(sources)), Valid: make([]bool, len(sources))}
			// a file whose texts can be read may be damaged elsewhere
			_ = AddColumns(t.Context(), path, path+".out", []Column{column})
		}
	})
}
