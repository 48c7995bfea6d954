package exchange

import (
	"path"
	"strings"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// Format is how pairs stand in a file.
type Format string

// The formats of one file. Two line-aligned files are opened by OpenAligned.
const (
	TSV   Format = "tsv"   // one pair a line, without quoting
	CSV   Format = "csv"   // one pair a record, as RFC 4180 has them
	TMX   Format = "tmx"   // translation units
	XLIFF Format = "xliff" // versions 1.2 and 2
	JSONL Format = "jsonl" // one JSON object a line
	PO    Format = "po"    // a gettext catalogue
)

// FormatOf returns the format that a file's name says, apart from a compression's suffix: TSV unless it ends in that
// of another.
func FormatOf(name string) Format {
	ext := strings.ToLower(path.Ext(name))
	switch ext {
	case ".gz", ".zst", ".xz", ".bz2":
		ext = strings.ToLower(path.Ext(name[:len(name)-len(ext)]))
	}
	switch ext {
	case ".csv":
		return CSV
	case ".tmx":
		return TMX
	case ".xliff", ".xlf", ".sdlxliff", ".mqxliff", ".mxliff":
		return XLIFF
	case ".po":
		return PO
	case ".jsonl", ".ndjson":
		return JSONL
	}
	return TSV
}

// IsParquet reports whether a file's name says Parquet, which this package does not read.
func IsParquet(name string) bool { return strings.EqualFold(path.Ext(name), ".parquet") }

// MaxLineBytes is the maximum length of a line: two sentences of the length that corpus reads, with their columns.
const MaxLineBytes = 256 << 10

// Options say where the texts of a pair are.
type Options struct {
	// SourceLanguage and TargetLanguage are the languages of a TMX unit's texts, as corpus.ParseLanguage names them.
	SourceLanguage, TargetLanguage string
	// SourceColumn and TargetColumn are the names of the text columns: in the first line of a TSV, or the keys of the
	// objects of JSONL. Where the first line of a TSV has neither both nor those of TextColumns, it is a pair, and the
	// texts are the first two columns; with MustName it has to have both. With more than two columns they may not be
	// numbers or addresses.
	SourceColumn, TargetColumn string
	MustName                   bool
	// SourceAt and TargetAt are the numbers of the columns of texts in TSV and CSV, from 1; 0: they are found.
	SourceAt, TargetAt int
	// Layout says how a TSV is divided, if its columns are not to be found from its first line.
	Layout *Layout
	// Properties asks for the properties of a TMX's units.
	Properties bool
	// Added are the columns that File.Write will add: a file that has one of them already is refused.
	Added []string
}

// DefaultOptions returns the column names of bitext files.
func DefaultOptions() Options { return Options{SourceColumn: "src_text", TargetColumn: "tgt_text"} }

// Layout is the columns of a TSV, Options.SourceColumn and TargetColumn among them.
type Layout struct {
	Columns []string            // their names in order; all lines have as many
	Header  bool                // the first line is not a pair
	Where   map[string][]string // only lines whose column has one of the values
}

// Pair is a sentence and its translation.
type Pair struct{ Source, Target string }

// Record is one line or unit of a file.
type Record struct {
	Pair
	Number uint64        // number of the line or unit, from 1
	Reason corpus.Reason // why it is not a pair, "" if it is; what texts it has are there all the same
	Detail string        // details of the error, for messages
	// Languages are those that XLIFF names, source and target; empty where a file names none.
	Languages [2]string
	// Properties are those of a TMX's unit, if Options ask for them.
	Properties []Property
}

// Property is what a TMX says of a unit or of one of its texts: of these the name begins with src_ or tgt_.
type Property struct{ Name, Value string }

// Filtered is the reason of a line that Layout.Where leaves out. The other reasons are corpus's: a line without text is
// empty, a line of another number of columns or a unit without one of the languages is malformed.
const Filtered corpus.Reason = "filtered"

// Untranslated is the reason of a unit of XLIFF or a message of PO that has no translation.
const Untranslated corpus.Reason = "untranslated"

// Reader reads the pairs of one file in their order. It may be used by one goroutine. Close must be called last.
type Reader interface {
	// Next returns the next record, or io.EOF after the last. A file that is damaged or has no record is a badinput
	// error that names it.
	Next() (Record, error)
	Close() error
}

// Open opens a file of a format.
func Open(in input.File, format Format, opts Options) (Reader, error) {
	if IsParquet(in.Path) {
		return nil, badinput.Errorf("%s is Parquet, which is not read here: write it as TSV by mine export", in.Path)
	}
	if opts.SourceAt > 0 && format != TSV && format != CSV {
		return nil, badinput.Errorf("%s has no numbered columns, only TSV and CSV have: give the names of those of the texts", in.Path)
	}
	switch format {
	case CSV:
		return openCSV(in, opts)
	case TMX:
		return openTMX(in, opts)
	case XLIFF:
		return openXLIFF(in, opts)
	case PO:
		return openPO(in)
	case JSONL:
		return openJSONL(in, opts)
	default:
		return openTSV(in, opts)
	}
}

// recordOf starts the record of a line; with a reason, the line is not a pair.
func recordOf(line corpus.Line) Record {
	rec := Record{Number: line.Number, Reason: line.Reason, Detail: line.Detail}
	if rec.Reason == "" && isBlank(line.Text) {
		rec.Reason = corpus.ReasonEmpty
	}
	return rec
}

// isBlank reports whether a line has no text.
func isBlank(line string) bool { return strings.TrimSpace(line) == "" }
