package shard

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"sort"
	"strconv"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// Reader reads a shard. It holds one row group in memory. A reader may be used by one goroutine; several readers
// may read one file.
type Reader struct {
	src    *input.Source
	file   *file.Reader
	starts []int // first row of each row group, then the number of rows

	divided bool // rows have places
}

// Open opens a shard. It checks the schema and that the keys were made by this corpus.NormaliseVersion.
func Open(path string) (*Reader, error) {
	src, err := input.Open(input.File{Path: path})
	if err != nil {
		return nil, err
	}
	r := &Reader{src: src}
	if err := r.open(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *Reader) open() error {
	return r.guard(func() (err error) {
		if r.file, err = r.src.Parquet(); err != nil {
			return err
		}
		if err := r.checkSchema(); err != nil {
			return err
		}
		r.starts = make([]int, 1, r.file.NumRowGroups()+1)
		for g := range r.file.NumRowGroups() {
			n := r.file.RowGroup(g).NumRows()
			if n < 0 || n > rowGroupRows { // checked before allocating memory
				return fmt.Errorf("a row group says that it has %d rows, this program writes at most %d", n,
					rowGroupRows)
			}
			r.starts = append(r.starts, r.starts[g]+int(n))
		}
		if int64(r.NumRows()) != r.file.NumRows() {
			return fmt.Errorf("its row groups have %d rows, its footer says %d", r.NumRows(), r.file.NumRows())
		}
		return nil
	})
}

// guard calls the Parquet library.
func (r *Reader) guard(call func() error) error { return r.src.Guard("the shard", call) }

func (r *Reader) checkSchema() error {
	got := r.file.MetaData().Schema
	r.divided = got.NumColumns() > columnPlace && got.Column(columnPlace).Path() == placeColumns[0].name
	schema := newSchema(r.divided)
	for i := range schema.NumFields() {
		want := schema.Field(i)
		if i >= got.NumColumns() || got.Column(i).Path() != want.Name() {
			return badinput.Errorf(
				"%s: not a shard, its column %d is not %q; name a file that this program's sharding wrote",
				r.src.Name, i+1, want.Name())
		}
		if node := got.Column(i).SchemaNode(); !node.Equals(want) {
			return badinput.Errorf(
				"%s: not a shard, its column %q has another type (%s); name a file that this program's sharding wrote",
				r.src.Name, want.Name(), got.Column(i).PhysicalType())
		}
	}
	if got.NumColumns() != schema.NumFields() {
		return badinput.Errorf(
			"%s: not a shard, it has an extra column %q; name a file that this program's sharding wrote",
			r.src.Name, got.Column(schema.NumFields()).Path())
	}
	version := r.file.MetaData().KeyValueMetadata().FindValue(metaNormalise)
	if version == nil || *version != strconv.Itoa(corpus.NormaliseVersion) {
		return badinput.Errorf("%s: its keys were made by another version of the normalisation; make the shard again",
			r.src.Name)
	}
	return nil
}

// NumRows is the shard's number of rows.
func (r *Reader) NumRows() int { return r.starts[len(r.starts)-1] }

// Close closes the file.
func (r *Reader) Close() error { return r.src.Close() }

// Keys reads the key of every row [n] and no other column.
func (r *Reader) Keys() ([]corpus.Key, error) {
	keys := make([]corpus.Key, 0, r.NumRows())
	for g := range r.file.NumRowGroups() {
		err := r.guard(func() error {
			column, err := r.fixed(g)
			if err != nil {
				return err
			}
			for _, k := range column {
				keys = append(keys, corpus.Key(k))
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// Rows yields every row in order. It stops after an error.
func (r *Reader) Rows() iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		for g := range r.file.NumRowGroups() {
			group, err := r.readGroup(g)
			if err != nil {
				yield(Row{}, err)
				return
			}
			for i := range group.keys {
				if !yield(group.row(i), nil) {
					return
				}
			}
		}
	}
}

// RowsAt yields the given rows, which must be in ascending order. It does not read row groups that have none of them.
// It stops after an error; a row that is out of order or does not exist is an error.
func (r *Reader) RowsAt(rows []uint32) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		var group *rowGroup
		at := -1
		last := uint32(0)
		for _, row := range rows {
			if row < last || int(row) >= r.NumRows() {
				yield(Row{}, fmt.Errorf("read %s: row %d is out of order or past the last row of %d", r.src.Name, row,
					r.NumRows()))
				return
			}
			last = row
			if g := sort.SearchInts(r.starts, int(row)+1) - 1; g != at {
				var err error
				if group, err = r.readGroup(g); err != nil {
					yield(Row{}, err)
					return
				}
				at = g
			}
			if !yield(group.row(int(row)-r.starts[at]), nil) {
				return
			}
		}
	}
}

// rowGroup is one decoded row group. Its bytes refer to decoded pages.
type rowGroup struct {
	keys  []parquet.FixedLenByteArray
	texts [3][]parquet.ByteArray // text, doc, url
	lines []int64

	places []corpus.Place // empty: no row has a place; zero: its row has no place
}

func (g *rowGroup) row(i int) Row {
	row := Row{
		Key:  corpus.Key(g.keys[i]),
		Text: string(g.texts[0][i]),
		Doc:  string(g.texts[1][i]),
		URL:  string(g.texts[2][i]),
		Line: uint64(g.lines[i]),
	}
	if len(g.places) > 0 && g.places[i].End > 0 {
		row.Place = &g.places[i]
	}
	return row
}

func (r *Reader) readGroup(g int) (*rowGroup, error) {
	group := new(rowGroup)
	err := r.guard(func() (err error) {
		if group.keys, err = r.fixed(g); err != nil {
			return err
		}
		for i := range group.texts {
			if group.texts[i], err = readColumn(r, g, columnText+i,
				(*file.ByteArrayColumnChunkReader).ReadBatch); err != nil {
				return err
			}
		}
		if group.lines, err = readColumn(r, g, columnLine, (*file.Int64ColumnChunkReader).ReadBatch); err != nil ||
			!r.divided {
			return err
		}
		group.places = make([]corpus.Place, len(group.keys))
		for i, c := range placeColumns {
			numbers, err := readColumn(r, g, columnPlace+i, (*file.Int32ColumnChunkReader).ReadBatch)
			if err != nil {
				return err
			}
			for k, n := range numbers {
				*c.of(&group.places[k]) = uint32(n)
			}
		}
		return nil
	})
	return group, err
}

func (r *Reader) fixed(g int) ([]parquet.FixedLenByteArray, error) {
	return readColumn(r, g, columnKey, (*file.FixedLenByteArrayColumnChunkReader).ReadBatch)
}

// readColumn decodes one column of one row group, one value per row.
func readColumn[C file.ColumnChunkReader, V any](r *Reader, g, column int,
	readBatch func(C, int64, []V, []int16, []int16) (int64, int, error)) ([]V, error) {
	rows := r.starts[g+1] - r.starts[g]
	chunk, err := r.file.RowGroup(g).Column(column)
	if err != nil {
		return nil, err
	}
	values := make([]V, rows)
	n, _, err := readBatch(chunk.(C), int64(rows), values, nil, nil)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if int(n) != rows {
		return nil, fmt.Errorf("column %d has %d values in a row group of %d rows", column, n, rows)
	}
	return values, nil
}
