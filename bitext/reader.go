package bitext

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"

	"bitextmine/internal/badinput"
)

// Reader reads a bitext file. It is not safe for concurrent use.
type Reader struct {
	path    string
	file    *file.Reader
	columns *pqarrow.FileReader
}

// Open opens a bitext file. A file that is not Parquet, or lacks a column of the schema, is a badinput error.
func Open(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, badinput.Errorf("bitext file %s cannot be opened: %w", path, err)
	}
	parquetFile, err := openParquet(f)
	if err != nil {
		return nil, errors.Join(badinput.Errorf("bitext file %s is not Parquet or is cut short (%w); mine it again", path, err), f.Close())
	}
	r := &Reader{path: path, file: parquetFile}
	if r.columns, err = pqarrow.NewFileReader(r.file, pqarrow.ArrowReadProperties{BatchSize: 8 << 10}, memory.DefaultAllocator); err != nil {
		return nil, errors.Join(badinput.Errorf("bitext file %s: %w; mine it again", path, err), r.Close())
	}
	if err := r.check(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// openParquet guards against arrow's panics on damaged footers.
func openParquet(f *os.File) (r *file.Reader, err error) {
	defer func() {
		if p := recover(); p != nil {
			r, err = nil, fmt.Errorf("%v", p)
		}
	}()
	return file.NewParquetReader(f)
}

func (r *Reader) check() error {
	schema, err := r.columns.Schema()
	if err != nil {
		return badinput.Errorf("bitext file %s: %w; mine it again", r.path, err)
	}
	for _, field := range Schema(nil).Fields() {
		found, ok := schema.FieldsByName(field.Name)
		if !ok {
			return badinput.Errorf("%s is no bitext file: it has no column %s", r.path, field.Name)
		}
		if !sameType(found[0].Type, field.Type) {
			return badinput.Errorf("%s is no bitext file: its column %s is %s instead of %s", r.path, field.Name, found[0].Type, field.Type)
		}
	}
	return nil
}

// sameType takes a dictionary for its values, as readers differ in whether they restore one.
func sameType(a, b arrow.DataType) bool {
	plain := func(t arrow.DataType) arrow.DataType {
		if d, ok := t.(*arrow.DictionaryType); ok {
			return d.ValueType
		}
		return t
	}
	return arrow.TypeEqual(plain(a), plain(b)) || a.ID() == arrow.LIST && b.ID() == arrow.LIST
}

// Len is the number of rows.
func (r *Reader) Len() int { return int(r.file.NumRows()) }

// Metadata returns what the file says of the run that wrote it, by the names in docs/formats.md, without their prefix.
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

// Rows yields the rows in order, or an error, which ends it.
func (r *Reader) Rows(ctx context.Context) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		features := r.Features()
		records, err := r.columns.GetRecordReader(ctx, nil, nil)
		if err != nil {
			yield(Row{}, fmt.Errorf("read %s: %w", r.path, err))
			return
		}
		defer records.Release()
		for {
			record, err := records.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(Row{}, badinput.Errorf("bitext file %s is damaged (%w); mine it again", r.path, err))
				return
			}
			table := newTable(record)
			for i := range int(record.NumRows()) {
				if !yield(table.row(i, features), nil) {
					return
				}
			}
		}
	}
}

// table reads rows out of a record whose columns check has seen.
type table map[string]arrow.Array

func newTable(record arrow.Record) table {
	t := table{}
	for i, field := range record.Schema().Fields() {
		t[field.Name] = record.Column(i)
	}
	return t
}

// Features lists the names of the feature columns, in the order of Row.Features; none unless the run was asked for them.
func (r *Reader) Features() []string {
	var names []string
	schema, err := r.columns.Schema()
	if err != nil {
		return nil // Open has read it
	}
	for _, field := range schema.Fields() {
		if name, ok := strings.CutPrefix(field.Name, featurePrefix); ok && field.Type.ID() == arrow.FLOAT32 {
			names = append(names, name)
		}
	}
	return names
}

func (t table) row(i int, features []string) Row {
	row := Row{
		Source: t.sentence("src", i), Target: t.sentence("tgt", i),
		Score: t.float("score", i), Cosine: t.float("cosine", i), SourceMean: t.float("src_mean", i), TargetMean: t.float("tgt_mean", i),
		SourceRank: t["src_rank"].(*array.Uint8).Value(i), TargetRank: t["tgt_rank"].(*array.Uint8).Value(i),
		Keep: t["keep"].(*array.Boolean).Value(i),
	}
	if prob := t["prob"].(*array.Float32); !prob.IsNull(i) {
		p := prob.Value(i)
		row.Prob = &p
	}
	for _, name := range features {
		row.Features = append(row.Features, t.float(featurePrefix+name, i))
	}
	list := t["reasons"].(*array.List)
	begin, end := list.ValueOffsets(i)
	for j := begin; j < end; j++ {
		row.Reasons = append(row.Reasons, text(list.ListValues(), int(j)))
	}
	return row
}

func (t table) sentence(side string, i int) Sentence {
	return Sentence{
		Text: text(t[side+"_text"], i), Lang: text(t[side+"_lang"], i),
		Key:   [16]byte(t[side+"_key"].(*array.FixedSizeBinary).Value(i)),
		Shard: text(t[side+"_shard"], i), Row: t[side+"_row"].(*array.Uint32).Value(i),
		Doc: text(t[side+"_doc"], i), URL: text(t[side+"_url"], i), Line: t[side+"_line"].(*array.Uint64).Value(i),
	}
}

func (t table) float(name string, i int) float32 { return t[name].(*array.Float32).Value(i) }

// text copies a string out of a column, so that the record can be freed.
func text(column arrow.Array, i int) string {
	switch c := column.(type) {
	case *array.Dictionary:
		return text(c.Dictionary(), c.GetValueIndex(i))
	case *array.String:
		return strings.Clone(c.Value(i))
	default:
		panic(fmt.Sprintf("bitext: a text column of type %s", column.DataType())) // check has refused it
	}
}
