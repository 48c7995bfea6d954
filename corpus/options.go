package corpus

import (
	"fmt"
	"slices"
	"strings"

	"bitextmine/internal/badinput"
)

// Format names how sentences stand in a file.
type Format string

const (
	// FormatAuto goes by the name (.tsv, .jsonl or .ndjson, .parquet, below a compression suffix), else by the first lines.
	FormatAuto Format = "auto"
	// FormatText is one sentence a line.
	FormatText Format = "text"
	// FormatBUCC is id<TAB>sentence; the id becomes the document.
	FormatBUCC Format = "bucc"
	// FormatTSV is a header line that names the columns, then one record a line, without quoting.
	FormatTSV Format = "tsv"
	// FormatJSONL is one JSON object a line.
	FormatJSONL Format = "jsonl"
	// FormatParquet is one sentence a row.
	FormatParquet Format = "parquet"
)

var formats = []Format{FormatAuto, FormatText, FormatBUCC, FormatTSV, FormatJSONL, FormatParquet}

// OnBadLine says what a line that cannot be used does to its file. Lines that are empty after normalisation are
// always only skipped and counted.
type OnBadLine string

// What a run may do on a bad line.
const (
	SkipBadLine OnBadLine = "skip" // count it, keep the first few as examples, go on
	FailBadLine OnBadLine = "fail" // stop with its file and line
)

// Options is what, beside an input's bytes, decides what is read from it and how it is cut. Every field but OnBadLine
// changes output and belongs into the key of a sharding task; OnBadLine only decides whether there is output.
type Options struct {
	Format    Format
	OnBadLine OnBadLine

	// The columns of TSV, JSONL and Parquet. DocColumn and URLColumn may be empty: no such column is read.
	TextColumn string
	DocColumn  string
	URLColumn  string

	// MaxLineBytes is the longest line read, its end not counted, in bytes; in Parquet, the longest text.
	MaxLineBytes int
	// ShardSize is the most rows a shard holds.
	ShardSize int
}

// DefaultOptions are those of a run that sets nothing.
func DefaultOptions() Options {
	return Options{
		Format: FormatAuto,
		// One damaged line in a crawl of millions must not stop a night's run; its count stands in the report.
		OnBadLine:  SkipBadLine,
		TextColumn: "text",
		// Encoders read at most some 512 tokens, about 4 KiB of text. 64 KiB leaves room for the metadata of a JSON
		// record, and still rejects what no sentence is: minified scripts, dumps, files without line ends.
		MaxLineBytes: 64 << 10,
		// A shard of 250,000 rows has 0.5 GB of float16 embeddings at dim 1024, and a cell of two takes minutes on
		// one machine: small enough to schedule, retry and add to nightly, large enough that cells stay few.
		ShardSize: 250_000,
	}
}

// MaxShardSize keeps row numbers in an int32, as index libraries want them.
const MaxShardSize = 1<<31 - 1

// Validate reports every problem of the options together, as one badinput error.
func (o Options) Validate() error {
	var problems []string
	complain := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if !slices.Contains(formats, o.Format) {
		complain("format is %q, choose one of %s", o.Format, join(formats))
	}
	if o.OnBadLine != SkipBadLine && o.OnBadLine != FailBadLine {
		complain("on_bad_line is %q, choose %s or %s", o.OnBadLine, SkipBadLine, FailBadLine)
	}
	if o.TextColumn == "" {
		complain("text_column is empty, name the column that holds the sentences")
	}
	if o.MaxLineBytes < 1 || o.MaxLineBytes > 1<<30 {
		complain("max_line_bytes is %d, choose a number from 1 to %d", o.MaxLineBytes, 1<<30)
	}
	if o.ShardSize < 1 || o.ShardSize > MaxShardSize {
		complain("shard_size is %d, choose a number from 1 to %d", o.ShardSize, MaxShardSize)
	}
	if problems == nil {
		return nil
	}
	return badinput.Errorf("corpus options: %s", strings.Join(problems, "; "))
}

func join[S ~string](names []S) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = string(n)
	}
	return strings.Join(parts, ", ")
}
