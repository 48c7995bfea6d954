package table

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"bitextmine/bitext"
	"bitextmine/internal/badinput"
)

// parquetSource reads a Parquet file batch by batch.
type parquetSource struct {
	path      string
	file      *file.Reader
	reader    pqarrow.RecordReader
	allocator *bitext.Allocator
	limit     int64           // bytes of memory for a batch
	rows      int64           // read so far
	texts     [2]string       // columns of texts, or paths into structs
	isText    map[string]bool // columns of bytes that are taken for texts, or not; nil before the first rows
}

func openParquet(path string, opts Options) (*parquetSource, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, badinput.Errorf("Parquet file %s cannot be opened: %w", path, err)
	}
	s := &parquetSource{path: path, texts: [2]string{opts.SourceColumn, opts.TargetColumn}}
	err = s.guard(func() error {
		info, err := f.Stat()
		if err != nil {
			return err
		}
		s.limit = parquet.DefaultMaxChunkSize(info.Size())
		props := parquet.NewReaderProperties(memory.DefaultAllocator)
		// Equal texts of any length are compressed to nothing: batches and pages are bounded, not what they are parts of.
		props.MaxPageSize, props.MaxChunkSize = s.limit, math.MaxInt64
		s.file, err = file.NewParquetReader(f, file.WithReadProps(props))
		return err
	})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	err = s.guard(func() error {
		columns := leaves(s.file, opts.Columns)
		s.allocator = bitext.NewAllocator(s.limit)
		props := pqarrow.ArrowReadProperties{BatchSize: batchRows(s.file, columns, s.limit), Parallel: true}
		reader, err := pqarrow.NewFileReader(s.file, props, s.allocator)
		if err != nil {
			return err
		}
		schema, err := reader.Schema()
		if err != nil {
			return err
		}
		names := make([]string, schema.NumFields())
		for i, f := range schema.Fields() {
			names[i] = f.Name
		}
		if err := distinct(path, names); err != nil {
			return err
		}
		s.reader, err = reader.GetRecordReader(context.Background(), columns, nil)
		return err
	})
	if err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	return s, nil
}

// leaves are the numbers of the leaf columns of columns; nil means all.
func leaves(f *file.Reader, columns []string) (numbers []int) {
	if columns == nil {
		return nil
	}
	schema := f.MetaData().Schema
	for i := range schema.NumColumns() {
		path := schema.Column(i).Path()
		name, _, _ := strings.Cut(path, ".")
		if slices.Contains(columns, name) || slices.Contains(columns, path) {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// batchRows is how many rows are read at a time so that they take a share of some memory, as the sizes of the file and
// of its row groups say: buffers double, and are copied while they do. It is a power of two, as BatchRows is, which row
// groups are of, so that batches do not go beyond them.
func batchRows(f *file.Reader, columns []int, memory int64) int64 {
	rows, most := int64(BatchRows), memory/4
	fit := func(size, of int64) {
		for size > most && of > 0 && rows > 1 && size/of > most/rows {
			rows /= 2
		}
	}
	all := int64(0)
	for _, group := range f.MetaData().RowGroups {
		size := int64(0)
		for i, chunk := range group.Columns {
			if chunk.MetaData != nil && (columns == nil || slices.Contains(columns, i)) {
				size += chunk.MetaData.TotalUncompressedSize
			}
		}
		fit(size, group.NumRows)
		all += size
	}
	fit(all, f.NumRows())
	return rows
}

func (s *parquetSource) guard(call func() error) error {
	err := bitext.Guard(call)
	if err != nil && !errors.Is(err, io.EOF) && !badinput.Is(err) {
		err = badinput.Errorf("%s is not Parquet or is damaged (%w): give another file", s.path, err)
	}
	return err
}

func (s *parquetSource) next(ctx context.Context) (record arrow.Record, err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s.allocator.Renew(s.limit)
	err = s.guard(func() error {
		if record, err = s.reader.Read(); err == nil {
			record.Retain() // the reader would empty it at the next call; a batch may be kept longer
		}
		return err
	})
	if err == nil && record.NumRows() == 0 {
		err = io.EOF
	}
	if errors.Is(err, io.EOF) {
		return nil, s.end()
	}
	if err == nil {
		s.rows += record.NumRows()
		record = s.texted(unnested(record, s.texts))
	}
	return record, err
}

// texted gives columns of bytes the type of texts if those of the first rows are UTF-8: Spark and Impala long wrote
// texts without saying so. Columns that have no type, as nothing is in them, are of texts, too.
func (s *parquetSource) texted(record arrow.Record) arrow.Record {
	fields, columns := slices.Clone(record.Schema().Fields()), slices.Clone(record.Columns())
	first := s.isText == nil
	if first {
		s.isText = map[string]bool{}
	}
	for i, values := range columns {
		var text arrow.DataType
		switch values.DataType().ID() {
		case arrow.BINARY:
			text = arrow.BinaryTypes.String
		case arrow.LARGE_BINARY:
			text = arrow.BinaryTypes.LargeString
		case arrow.NULL:
			fields[i].Type = arrow.BinaryTypes.String
			columns[i] = array.MakeArrayOfNull(memory.DefaultAllocator, fields[i].Type, values.Len())
			continue
		default:
			continue
		}
		d := values.Data()
		as := array.MakeFromData(array.NewData(text, d.Len(), d.Buffers(), nil, d.NullN(), d.Offset()))
		if first {
			s.isText[fields[i].Name] = areUTF8(textsOf(as), as.Len())
		}
		if s.isText[fields[i].Name] {
			fields[i].Type, columns[i] = text, as
		}
	}
	return array.NewRecord(arrow.NewSchema(fields, nil), columns, record.NumRows())
}

func areUTF8(texts func(i int) (string, bool), n int) bool {
	for i := range n {
		if text, _ := texts(i); !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

// end is io.EOF if the file had the rows that it claims.
func (s *parquetSource) end() error {
	metadata := s.file.MetaData()
	inGroups := int64(0)
	for _, group := range metadata.RowGroups {
		inGroups += group.NumRows
	}
	if s.rows != metadata.NumRows || s.rows != inGroups {
		return badinput.Errorf("%s has %d rows and says that it has %d, %d in its row groups: it is damaged; give another file",
			s.path, s.rows, metadata.NumRows, inGroups)
	}
	return io.EOF
}

// ownKey is the key of the metadata that the library writes itself.
const ownKey = "ARROW:schema"

func (s *parquetSource) metadata() map[string]string {
	said := map[string]string{}
	kv := s.file.MetaData().KeyValueMetadata()
	for i, key := range kv.Keys() {
		if key != ownKey && !strings.HasPrefix(key, "pandas") {
			said[key] = kv.Values()[i]
		}
	}
	return said
}

func (s *parquetSource) bad() uint64 { return 0 } // a damaged file is refused

func (s *parquetSource) Close() error {
	s.reader.Release()
	return s.file.Close()
}

// ParquetWriter writes batches with the same columns as Parquet. It may be used by one goroutine.
type ParquetWriter struct {
	to       io.Writer
	metadata map[string]string
	file     *bitext.FileWriter
}

// NewParquetWriter starts a file on w with metadata. Close finishes it and does not close w.
func NewParquetWriter(w io.Writer, metadata map[string]string) *ParquetWriter {
	return &ParquetWriter{to: w, metadata: metadata}
}

// Write writes a batch as one row group.
func (w *ParquetWriter) Write(b *Batch) error {
	if w.file == nil {
		if err := w.begin(b); err != nil {
			return err
		}
	}
	if err := w.file.Write(recordOf(b)); err != nil {
		return fmt.Errorf("write Parquet rows: %w", err)
	}
	return nil
}

func (w *ParquetWriter) begin(b *Batch) error {
	options := []parquet.WriterProperty{
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithMaxRowGroupLength(BatchRows),
		parquet.WithCreatedBy("mine"),
		// As in package bitext: a dictionary that outgrew its limit would make the bytes differ from time to time.
		parquet.WithDictionaryPageSizeLimit(math.MaxInt32),
		parquet.WithDictionaryDefault(false),
	}
	for _, f := range b.fields {
		if f.Type.ID() == arrow.DICTIONARY || f.Type.ID() == arrow.UINT32 {
			options = append(options, parquet.WithDictionaryFor(f.Name, true))
		}
	}
	file, err := bitext.NewFileWriter(w.to, arrow.NewSchema(b.fields, nil), parquet.NewWriterProperties(options...))
	if err != nil {
		return fmt.Errorf("start a Parquet file: %w", err)
	}
	for _, key := range slices.Sorted(maps.Keys(w.metadata)) {
		if err := file.AppendKeyValueMetadata(key, w.metadata[key]); err != nil {
			return fmt.Errorf("write Parquet metadata: %w", err)
		}
	}
	w.file = file
	return nil
}

// Close writes the footer.
func (w *ParquetWriter) Close() error {
	if w.file == nil {
		return errors.New("a Parquet file without rows has no columns")
	}
	return w.file.Close()
}
