package corpus

import (
	"errors"
	"io"

	"github.com/apache/arrow/go/v15/parquet/file"

	"bitextmine/corpus/input"
)

var parquetMagic = []byte("PAR1")

// parquetDecoder reads named columns of a Parquet file: strings and byte arrays of any length type, plain or
// dictionary-encoded, and also integers as document ids, integers and dates as metadata. Other columns are not read.
type parquetDecoder struct {
	src     *input.Source
	file    *file.Reader
	columns []*textColumn // columns by Options.columns; nil if not read
	group   int           // the next row group
	left    int64         // rows of the current group not yet in a batch
	batch   int           // rows in the batch
	at      int           // index of the next row in the batch
	row     uint64        // number of rows returned
}

func newParquetDecoder(src *input.Source, opts Options) (*parquetDecoder, error) {
	if src.Size == 0 {
		return nil, io.EOF
	}
	d := &parquetDecoder{src: src}
	err := d.guard(func() (err error) {
		d.file, err = src.Parquet()
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, name := range opts.columns() {
		var found *textColumn
		if name != "" {
			as := []columnKind{columnText, columnID, columnID, columnMetadata}[min(i, firstMetadata)]
			var names []string
			if found, names, err = findColumn(src.Name, d.file, name, as); err != nil {
				return nil, err
			}
			if found == nil && !opts.optional(i) {
				return nil, opts.noColumn(src.Name, name, names)
			}
		}
		d.columns = append(d.columns, found)
	}
	return d, nil
}

// guard calls the Parquet library.
func (d *parquetDecoder) guard(call func() error) error {
	return d.src.Guard("the Parquet data", call)
}

func (d *parquetDecoder) lines() uint64 { return d.row }

func (d *parquetDecoder) next(rec *record) error {
	for d.at == d.batch {
		if err := d.guard(d.readBatch); err != nil {
			return err
		}
		if d.batch == 0 && d.group >= d.file.NumRowGroups() {
			return io.EOF
		}
	}
	d.row++
	*rec = record{line: d.row, meta: rec.meta}
	for i, c := range d.columns {
		if c != nil {
			*rec.field(i) = c.Values[d.at]
		}
	}
	d.at++
	return nil
}

// readBatch decodes the next rows of the current row group or of the next one.
func (d *parquetDecoder) readBatch() error {
	d.at, d.batch = 0, 0
	if d.left == 0 {
		if d.group >= d.file.NumRowGroups() {
			return nil
		}
		rows := d.file.RowGroup(d.group)
		d.group++
		if d.left = rows.NumRows(); d.left < 0 {
			return errors.New("a row group has a negative number of rows")
		}
		for _, c := range d.columns {
			if c == nil {
				continue
			}
			if err := c.Open(d.src.Name, rows); err != nil {
				return err
			}
		}
	}
	n := int(min(d.left, columnBatch))
	for _, c := range d.columns {
		if c == nil {
			continue
		}
		if err := c.Read(n); err != nil {
			return err
		}
	}
	d.left -= int64(n)
	d.batch = n
	return nil
}
