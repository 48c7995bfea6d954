package table

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"

	"bitextmine/bitext"
)

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
