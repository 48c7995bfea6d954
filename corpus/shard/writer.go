package shard

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"strconv"

	"bitextmine/corpus"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/compress"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/metadata"
	"github.com/apache/arrow/go/v15/parquet/schema"
)

// Row is one row of a shard.
type Row struct {
	Key  corpus.Key
	Text string // text of the input; encoders get corpus.Normalise(Text)
	Doc  string // "" if the input names none
	URL  string
	Line uint64 // line of the input, from 1
	// Place is where the sentence stands in a record that was divided; nil: the record is the sentence.
	Place *corpus.Place
}

// A reader holds one row group at once and must read all of it to get one row. A row group ends at whichever limit is
// reached first: 32,768 sentences are about 4 MiB, but lines may be long.
const (
	rowGroupRows  = 32 << 10
	rowGroupBytes = 8 << 20
)

// The columns of a shard, in this order.
const (
	columnKey = iota
	columnText
	columnDoc
	columnURL
	columnLine
	columnPlace // the first of a place's columns, in shards of divided records
)

// placeColumns are the columns of a Place.
var placeColumns = [...]struct {
	name string
	of   func(*corpus.Place) *uint32
}{
	{"paragraph", func(p *corpus.Place) *uint32 { return &p.Paragraph }},
	{"position", func(p *corpus.Place) *uint32 { return &p.Position }},
	{"start", func(p *corpus.Place) *uint32 { return &p.Start }},
	{"end", func(p *corpus.Place) *uint32 { return &p.End }},
}

// metaNormalise is the metadata key for the corpus.NormaliseVersion of the keys.
const metaNormalise = "bitextmine.normalise"

// newSchema has no optional column: a value that an input does not have is the empty string. A shard of divided records
// has the sentences' places. Every writer and reader builds its own schema, because arrow's nodes cache their paths on
// first use without a lock.
func newSchema(divided bool) *schema.GroupNode {
	text := func(name string) schema.Node {
		return schema.Must(schema.NewPrimitiveNodeLogical(name, parquet.Repetitions.Required,
			schema.StringLogicalType{}, parquet.Types.ByteArray, -1, -1))
	}
	fields := schema.FieldList{
		schema.NewFixedLenByteArrayNode("key", parquet.Repetitions.Required, int32(len(corpus.Key{})), -1),
		text("text"), text("doc"), text("url"),
		schema.Must(schema.NewPrimitiveNodeLogical("line", parquet.Repetitions.Required,
			schema.NewIntLogicalType(64, false), parquet.Types.Int64, -1, -1)),
	}
	if divided {
		for _, c := range placeColumns {
			number := schema.NewIntLogicalType(32, false)
			fields = append(fields, schema.Must(schema.NewPrimitiveNodeLogical(c.name, parquet.Repetitions.Required,
				number, parquet.Types.Int32, -1, -1)))
		}
	}
	return schema.MustGroup(schema.NewGroupNode("shard", parquet.Repetitions.Required, fields, -1))
}

// properties sets everything that decides the file's bytes. Statistics are left out: our readers do not use a
// minimum of text, and it would put sentences into the footer. Keys are hashes, which do not compress. A column of a
// row group is one page, because the library creates a new compressor for each page. Level 1 makes news text 6% larger
// than the default level; compression is most of the time that sharding takes.
func properties() *parquet.WriterProperties {
	return parquet.NewWriterProperties(
		parquet.WithCreatedBy("bitextmine"),
		parquet.WithVersion(parquet.V2_LATEST),
		parquet.WithDictionaryDefault(false),
		parquet.WithStats(false),
		parquet.WithDataPageSize(rowGroupBytes),
		parquet.WithCompression(compress.Codecs.Zstd),
		parquet.WithCompressionLevel(1),
		parquet.WithCompressionFor("key", compress.Codecs.Uncompressed),
		parquet.WithEncodingFor("line", parquet.Encodings.DeltaBinaryPacked),
	)
}

// writer writes rows as one shard, one row group at a time.
type writer struct {
	sink  *sink
	file  *file.Writer
	keys  []corpus.Key
	texts [3]textColumn // text, doc, url
	lines []int64
	// of a shard of divided records: the places, and one of their columns
	divided bool
	places  []corpus.Place
	numbers []int32
	bytes   int // total size of the texts
	fixed   []parquet.FixedLenByteArray
	vary    []parquet.ByteArray
}

func newWriter(w io.Writer, divided bool) *writer {
	s := &sink{w: w, digest: sha256.New()}
	meta := metadata.NewKeyValueMetadata()
	_ = meta.Append(metaNormalise, strconv.Itoa(corpus.NormaliseVersion)) // only an empty key fails
	return &writer{
		sink: s, divided: divided,
		file: file.NewParquetWriter(s, newSchema(divided), file.WithWriterProps(properties()),
			file.WithWriteMetadata(meta)),
	}
}

func (w *writer) add(row *Row) error {
	w.keys = append(w.keys, row.Key)
	w.lines = append(w.lines, int64(row.Line))
	if w.divided {
		w.places = append(w.places, placeOf(row))
	}
	for i, text := range [...]string{row.Text, row.Doc, row.URL} {
		w.texts[i].add(text)
		w.bytes += len(text)
	}
	if len(w.keys) >= rowGroupRows || w.bytes >= rowGroupBytes {
		return w.flush()
	}
	return nil
}

// placeOf is a row's place; zero if the records of its file are not divided.
func placeOf(row *Row) corpus.Place {
	if row.Place == nil {
		return corpus.Place{}
	}
	return *row.Place
}

// flush writes the rows added so far as one row group.
func (w *writer) flush() error {
	group := w.file.AppendRowGroup()
	columns := columnPlace
	if w.divided {
		columns += len(placeColumns)
	}
	for column := range columns {
		if err := w.writeColumn(group, column); err != nil {
			return fmt.Errorf("write shard column %d: %w", column, err)
		}
	}
	if err := group.Close(); err != nil {
		return fmt.Errorf("write shard row group: %w", err)
	}
	w.keys, w.lines, w.places, w.bytes = w.keys[:0], w.lines[:0], w.places[:0], 0
	for i := range w.texts {
		w.texts[i].clear()
	}
	return w.sink.err
}

func (w *writer) writeColumn(group file.SerialRowGroupWriter, column int) error {
	chunk, err := group.NextColumn()
	if err != nil {
		return err
	}
	switch chunk := chunk.(type) {
	case *file.FixedLenByteArrayColumnChunkWriter:
		w.fixed = w.fixed[:0]
		for i := range w.keys {
			w.fixed = append(w.fixed, w.keys[i][:])
		}
		_, err = chunk.WriteBatch(w.fixed, nil, nil)
	case *file.ByteArrayColumnChunkWriter:
		w.vary = w.texts[column-columnText].values(w.vary[:0])
		_, err = chunk.WriteBatch(w.vary, nil, nil)
	case *file.Int64ColumnChunkWriter:
		_, err = chunk.WriteBatch(w.lines, nil, nil)
	case *file.Int32ColumnChunkWriter:
		w.numbers = w.numbers[:0]
		for i := range w.places {
			w.numbers = append(w.numbers, int32(*placeColumns[column-columnPlace].of(&w.places[i])))
		}
		_, err = chunk.WriteBatch(w.numbers, nil, nil)
	}
	if err != nil {
		return err
	}
	return chunk.Close()
}

// close writes the remaining rows and the footer. It returns the SHA-256 and the size of the file.
func (w *writer) close() (digest []byte, size int64, err error) {
	if len(w.keys) > 0 {
		if err := w.flush(); err != nil {
			return nil, 0, err
		}
	}
	if err := w.file.Close(); err != nil {
		return nil, 0, fmt.Errorf("write shard footer: %w", err)
	}
	return w.sink.digest.Sum(nil), w.sink.size, w.sink.err
}

// textColumn collects the strings of one row group in one buffer, which is reused for the next.
type textColumn struct {
	bytes []byte
	ends  []int
}

func (c *textColumn) add(s string) {
	c.bytes = append(c.bytes, s...)
	c.ends = append(c.ends, len(c.bytes))
}

func (c *textColumn) clear() { c.bytes, c.ends = c.bytes[:0], c.ends[:0] }

func (c *textColumn) values(to []parquet.ByteArray) []parquet.ByteArray {
	start := 0
	for _, end := range c.ends {
		to = append(to, c.bytes[start:end])
		start = end
	}
	return to
}

// sink hashes and counts what it writes. It records the first error and then ignores further writes, because the
// Parquet library panics on some write errors and loses others.
type sink struct {
	w      io.Writer
	digest hash.Hash
	size   int64
	err    error
}

func (s *sink) Write(p []byte) (int, error) {
	if s.err == nil {
		_, s.err = s.w.Write(p)
		s.digest.Write(p)
		s.size += int64(len(p))
	}
	return len(p), nil
}
