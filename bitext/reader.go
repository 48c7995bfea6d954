package bitext

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"

	"bitextmine/internal/badinput"
)

// Reader reads a bitext file one row group at a time. It is not safe for concurrent use.
//
// It does not use arrow's own record reader, which holds arrays of a whole row group besides the rows.
type Reader struct {
	path    string
	file    *file.Reader
	columns map[string]int // number of a leaf column by its path
}

// Open opens a bitext file. A file that is not Parquet, or lacks a column of the schema, is a badinput error.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, badinput.Errorf("bitext file %s cannot be opened: %w", path, err)
	}
	r := &Reader{path: path, columns: map[string]int{}}
	err = r.guard(func() (err error) {
		r.file, err = file.NewParquetReader(f)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := r.guard(r.check); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// guard calls the Parquet library and adds the file's name to an error.
func (r *Reader) guard(call func() error) error {
	err := Guard(call)
	if err != nil && !badinput.Is(err) {
		err = badinput.Errorf("bitext file %s is not Parquet or is damaged (%w); mine it again", r.path, err)
	}
	return err
}

// reasonsPath is the path of the leaf column of the reasons list.
const reasonsPath = "reasons.list.element"

// check maps the schema's columns to those of the file. It returns an error if the file lacks one.
func (r *Reader) check() error {
	schema := r.file.MetaData().Schema
	for i := range schema.NumColumns() {
		r.columns[schema.Column(i).Path()] = i
	}
	var missing []string
	for _, field := range Schema(Metadata{}).Fields() {
		path, want := field.Name, physicalType(field.Type)
		if path == "reasons" {
			path = reasonsPath
		}
		at, ok := r.columns[path]
		if !ok {
			missing = append(missing, field.Name)
			continue
		}
		column := schema.Column(at)
		if column.PhysicalType() != want || want == parquet.Types.FixedLenByteArray &&
			column.TypeLength() != keyType.ByteWidth {
			return badinput.Errorf("%s is not a bitext file: its column %s has the type %s", r.path, path,
				column.PhysicalType())
		}
	}
	if len(missing) > 0 {
		return badinput.Errorf("%s is not a bitext file: it has no column %s", r.path, strings.Join(missing, ", "))
	}
	return nil
}

// physicalType is the Parquet type in which a column of the schema is stored.
func physicalType(t arrow.DataType) parquet.Type {
	switch t.ID() {
	case arrow.FIXED_SIZE_BINARY:
		return parquet.Types.FixedLenByteArray
	case arrow.FLOAT32:
		return parquet.Types.Float
	case arrow.UINT8, arrow.UINT32:
		return parquet.Types.Int32
	case arrow.UINT64:
		return parquet.Types.Int64
	case arrow.BOOL:
		return parquet.Types.Boolean
	default: // strings, dictionaries of them, lists of them
		return parquet.Types.ByteArray
	}
}

// Len is the number of rows.
func (r *Reader) Len() int { return int(r.file.NumRows()) }

// Metadata returns the file's metadata about the run that wrote it, by the names in docs/formats.md without their
// prefix.
func (r *Reader) Metadata() map[string]string {
	said := map[string]string{}
	kv := r.file.MetaData().KeyValueMetadata()
	for i, key := range kv.Keys() {
		if name, ours := strings.CutPrefix(key, metadataPrefix); ours {
			said[name] = kv.Values()[i]
		}
	}
	return said
}

// Close closes the file.
func (r *Reader) Close() error { return r.file.Close() }

// Features lists the names of the feature columns in the order of Row.Features. There are none unless the run was asked
// for them.
func (r *Reader) Features() []string {
	schema := r.file.MetaData().Schema
	var names []string
	for i := range schema.NumColumns() {
		column := schema.Column(i)
		if name, ok := strings.CutPrefix(column.Path(), featurePrefix); ok &&
			column.PhysicalType() == parquet.Types.Float {
			names = append(names, name)
		}
	}
	return names
}

// Rows yields the rows in order. It stops after an error.
func (r *Reader) Rows(ctx context.Context) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for g := range r.file.NumRowGroups() {
			rows, err := r.readGroup(ctx, g)
			if err != nil {
				yield(Row{}, err)
				return
			}
			for _, row := range rows {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// readGroup decodes one row group. Files of this program have at most RowGroup rows in a row group.
func (r *Reader) readGroup(ctx context.Context, g int) (rows []Row, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err = r.guard(func() error {
		group := group{reader: r.file.RowGroup(g), columns: r.columns}
		if n := group.reader.NumRows(); n < 0 || n > RowGroup {
			return fmt.Errorf("row group %d claims to have %d rows; this program writes at most %d", g, n, RowGroup)
		}
		rows = make([]Row, group.reader.NumRows())
		group.fill(rows, r.Features())
		return group.err
	})
	return rows, err
}

// Guard calls the Parquet library, which panics on some damaged files and returns errors for others.
func Guard(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return call()
}
