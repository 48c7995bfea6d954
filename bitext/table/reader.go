package table

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"bitextmine/bitext"
	"bitextmine/bitext/exchange"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// The usual names of the columns of texts and of their languages.
const (
	SourceText     = "src_text"
	TargetText     = "tgt_text"
	SourceLanguage = "src_lang"
	TargetLanguage = "tgt_lang"
)

// BatchRows is the number of rows of a batch at most: one row group of Parquet.
const BatchRows = bitext.RowGroup

// Options say where the texts of a table are.
type Options struct {
	// Source and Target are the languages, as corpus.ParseLanguage names them. TMX needs them.
	Source, Target string
	// SourceColumn and TargetColumn are the columns of texts. In the batches they are named so too.
	SourceColumn, TargetColumn string
	// SourceAt and TargetAt are the numbers of the columns of texts in TSV and CSV, from 1, whatever their names are; 0:
	// the columns are found by name.
	SourceAt, TargetAt int
	// MustName refuses a TSV whose first line does not name both columns, even if they have the default names.
	MustName bool
	// SkipBad leaves out lines and records that cannot be read, and counts them (Reader.Bad). Otherwise they are errors.
	SkipBad bool
	// Known leaves out rows of which a text is null, and Whole those of which one is null or blank. They are counted
	// (Reader.Lacking).
	Known, Whole bool
	// Columns are the columns to read; nil means all. Formats other than Parquet read all. Those that do not exist are
	// ignored.
	Columns []string
}

// DefaultOptions returns the column names of bitext files.
func DefaultOptions() Options { return Options{SourceColumn: SourceText, TargetColumn: TargetText} }

// Reader reads a table. It may be used by one goroutine. Close must be called last.
type Reader struct {
	name    string
	opts    Options
	source  source
	rows    uint64
	lacking uint64 // rows that were left out, as they have no text on one side
}

// source is a format's part of a Reader.
type source interface {
	// next returns at most BatchRows rows, or io.EOF after the last.
	next(ctx context.Context) (arrow.Record, error)
	metadata() map[string]string
	// bad is how many lines or records were left out, as they cannot be read.
	bad() uint64
	Close() error
}

// Open opens files: one of any format, or two line-aligned ones.
func Open(files []string, opts Options) (*Reader, error) {
	r := &Reader{name: strings.Join(files, " "), opts: opts}
	var err error
	switch {
	case opts.SourceAt > 0 && (len(files) == 2 || len(files) == 1 && !hasFields(files[0])):
		return nil, badinput.Errorf("%s: columns have numbers in TSV and CSV alone: name them (--src-column, --tgt-column)", r.name)
	case len(files) == 2:
		r.source, err = openAligned(files[0], files[1], opts)
	case len(files) != 1:
		return nil, badinput.Errorf("%d files were named: give one file, or two line-aligned ones", len(files))
	case exchange.IsParquet(files[0]):
		r.source, err = openParquet(files[0], opts)
	default:
		in := input.File{Path: files[0]}
		switch format := exchange.FormatOf(files[0]); format {
		case exchange.TMX:
			r.source, err = openTMX(in, opts)
		case exchange.PO, exchange.XLIFF:
			r.source, err = openPairs(in, format, opts)
		case exchange.CSV:
			r.source, err = openCSV(in, opts)
		case exchange.JSONL:
			r.source, err = openJSONL(in, opts)
		default:
			r.source, err = openTSV(in, opts)
		}
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Next returns the next rows, or io.EOF after the last.
func (r *Reader) Next(ctx context.Context) (*Batch, error) {
	for {
		record, err := r.source.next(ctx)
		if err != nil {
			return nil, err
		}
		b, first := batchOf(record, r.rows), r.rows == 0
		r.rows += uint64(b.rows) // those that are left out stand in the file, too
		whole := r.opts.Known || r.opts.Whole
		if first || whole {
			if b, err = r.checked(b, whole); err != nil {
				return nil, err
			}
		}
		if b.rows > 0 || !whole {
			return b, nil
		}
	}
}

// checked checks that a batch has both columns of texts, and leaves out the rows that the options say lack one.
func (r *Reader) checked(b *Batch, whole bool) (*Batch, error) {
	var texts [2]func(i int) (string, bool)
	for side, name := range []string{r.opts.SourceColumn, r.opts.TargetColumn} {
		var err error
		if texts[side], err = b.Texts(name); err != nil {
			return nil, badinput.Errorf("%s: %w", r.name, err)
		}
	}
	if !whole {
		return b, nil
	}
	rows := make([]int, 0, b.rows)
	for i := range b.rows {
		source, known := texts[0](i)
		target, both := texts[1](i)
		if known && both && (!r.opts.Whole || strings.TrimSpace(source) != "" && strings.TrimSpace(target) != "") {
			rows = append(rows, i)
		}
	}
	r.lacking += uint64(b.rows - len(rows))
	return b.Select(rows)
}

// Lacking is how many rows without a text on one side, and units without a translation, were left out so far.
func (r *Reader) Lacking() uint64 {
	if units, ok := r.source.(*pairSource); ok {
		return r.lacking + units.lacking
	}
	return r.lacking
}

// Bad is how many lines or records were left out so far, as they cannot be read.
func (r *Reader) Bad() uint64 { return r.source.bad() }

// Unnamed is the number of columns if nothing names them, neither the file nor the options, and some are no texts: then
// the first two were taken. Otherwise it is 0.
func (r *Reader) Unnamed() int {
	if f, ok := r.source.(*fieldSource); ok && f.guessed && len(f.texts.columns) > 2 {
		return len(f.texts.columns)
	}
	return 0
}

// Metadata returns the key-value metadata of a Parquet file. It is empty for other formats.
func (r *Reader) Metadata() map[string]string { return r.source.metadata() }

// Close ends reading.
func (r *Reader) Close() error { return r.source.Close() }

// texts builds records of texts.
type texts struct {
	builder *array.RecordBuilder
	columns []*array.StringBuilder
	rows    int
}

func newTexts(names []string) *texts {
	fields := make([]arrow.Field, len(names))
	for i, name := range names {
		fields[i] = arrow.Field{Name: name, Type: arrow.BinaryTypes.String}
	}
	t := &texts{builder: array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))}
	for i := range names {
		t.columns = append(t.columns, t.builder.Field(i).(*array.StringBuilder))
	}
	return t
}

func (t *texts) full() bool { return t.rows == BatchRows }

func (t *texts) record() arrow.Record {
	t.rows = 0
	return t.builder.NewRecord()
}

// hasFields reports whether a file has rows of fields.
func hasFields(name string) bool {
	format := exchange.FormatOf(name)
	return !exchange.IsParquet(name) && (format == exchange.TSV || format == exchange.CSV)
}

// leaveOut counts what cannot be read, or makes it an error.
type leaveOut struct {
	skip  bool
	count uint64
}

func (l *leaveOut) bad() uint64 { return l.count }

// refuse is nil if the line is left out.
func (l *leaveOut) refuse(name string, line uint64, what string) error {
	if l.skip {
		l.count++
		return nil
	}
	return refuse(name, line, what)
}

// refuse is the error of a line that is not a row.
func refuse(name string, line uint64, what string) error {
	return badinput.Errorf("%s:%d: %s; correct the line or remove it", name, line, what)
}

// distinct checks that no column's name is there twice.
func distinct(file string, names []string) error {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return badinput.Errorf("%s has two columns %q: rename one of them", file, name)
		}
	}
	return nil
}
