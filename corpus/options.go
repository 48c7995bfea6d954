package corpus

import (
	"slices"
	"strings"

	"bitextmine/corpus/input"
	"bitextmine/internal/badinput"
)

// Format is the format of an input file.
type Format string

const (
	// FormatAuto is detected from the file name (.tsv, .csv, .jsonl or .ndjson, .json, .parquet, before a compression
	// suffix), else from the first lines.
	FormatAuto Format = "auto"
	// FormatText is one sentence per line.
	FormatText Format = "text"
	// FormatBUCC is id<TAB>sentence; the id becomes the document.
	FormatBUCC Format = "bucc"
	// FormatTSV is a header line with the column names, then one record per line, without quoting.
	FormatTSV Format = "tsv"
	// FormatJSONL is one JSON object per line.
	FormatJSONL Format = "jsonl"
	// FormatCSV is a header line with the column names, then records whose fields may be in quotation marks.
	FormatCSV Format = "csv"
	// FormatJSON is one JSON array of objects or texts.
	FormatJSON Format = "json"
	// FormatParquet is one sentence per row.
	FormatParquet Format = "parquet"
	// FormatPO is a catalogue of messages.
	FormatPO Format = "po"
	// FormatHTML is one page.
	FormatHTML Format = "html"
	// FormatWARC is a web archive: pages (WARC) or their text (WET).
	FormatWARC Format = "warc"
	// FormatEPUB is a book, whose chapters are documents.
	FormatEPUB Format = "epub"
	// FormatSRT is subtitles of SubRip.
	FormatSRT Format = "srt"
	// FormatVTT is subtitles of WebVTT.
	FormatVTT Format = "vtt"
	// FormatMan is a manual page in the source of troff.
	FormatMan Format = "man"
)

// formats are the values of Options.Format.
func formats() []Format {
	names := []Format{FormatAuto}
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// OnBadLine selects what to do with an unusable line. A line that is empty after normalisation is always skipped and
// counted.
type OnBadLine string

// What a reader may do with a bad line.
const (
	SkipBadLine OnBadLine = "skip" // count it, record the first few as examples, continue
	FailBadLine OnBadLine = "fail" // stop with an error that names the file and line
)

// ColumnFlags are a command's flags that name columns.
type ColumnFlags int

// The flags of commands.
const (
	SideFlags ColumnFlags = iota // --text-column, and --src-text-column and --tgt-text-column for one side
	OwnFlags                     // --text-column alone
	NoFlags
)

// Options are the settings that decide, together with an input's bytes, what is read from it and how it is cut into
// shards. Every field except OnBadLine changes the output and belongs in the key of a sharding task. OnBadLine only
// decides whether there is an output.
type Options struct {
	Format    Format
	OnBadLine OnBadLine
	// Encoding is the text's encoding, by its name in web pages, or utf-16; empty: UTF-8. Parquet has no other.
	Encoding string `json:",omitempty"`

	// The columns of TSV, JSONL and Parquet. DocColumn and URLColumn may be empty; then no such column is read.
	TextColumn string
	DocColumn  string
	URLColumn  string
	// OptionalURL reads a file without URLColumn as if none were named.
	OptionalURL bool `json:",omitempty"`
	// MetaColumns names the columns of documents' metadata, separated by commas; empty: none.
	MetaColumns string `json:",omitempty"`
	// MadeBy is the command that writes these columns, for the message about one that is missing; empty: they are named
	// by flags. It changes no output.
	MadeBy string `json:"-"`
	// ColumnFlags says which flags of the command name columns, for the same message.
	ColumnFlags ColumnFlags `json:"-"`
	// LangColumn is the one of MetaColumns that names the language, for the same message.
	LangColumn string `json:"-"`

	// KeepEmpty returns records without text, too: every record is a sentence, or bad.
	KeepEmpty bool `json:",omitempty"`

	// MaxLineBytes is the maximum length of a line in bytes, without its line end. In Parquet it is the maximum length
	// of a text.
	MaxLineBytes int
	// ShardSize is the maximum number of rows in a shard.
	ShardSize int

	// Split says that records are documents, which are divided into sentences: a language and the digest of the rules,
	// as SplitBy writes them. Empty: a record is a sentence.
	Split string `json:",omitempty"`
	// Salvage goes on behind what is damaged in a web archive, and counts it.
	Salvage bool `json:",omitempty"`
	// Dedup leaves out pages that are near copies of earlier ones of the same file or group of files, if it is
	// DedupPages.
	Dedup string `json:",omitempty"`
	// Exclude identifies the sentences that are left out; empty: none are.
	Exclude string `json:",omitempty"`
	// Documents says that the documents of the sentences are written beside each shard.
	Documents bool `json:",omitempty"`
	// Whole says that a file is one document, whatever its records are.
	Whole bool `json:",omitempty"`
}

// DedupPages is the value of Options.Dedup for near copies of pages.
const DedupPages = "pages"

// MaxRecordBytes is the maximum length of a record that is divided. MaxLineBytes is then that of a sentence.
const MaxRecordBytes = 16 << 20

// dividing is increased whenever the same rules would divide some record otherwise, or set another one aside.
const dividing = "3"

// SplitBy is the value of Options.Split for a language and the digest of rules.
func SplitBy(language, rules string) string { return language + " " + dividing + " " + rules }

// SplitLanguage is the language whose rules divide records; empty: none do.
func (o Options) SplitLanguage() string {
	language, _, _ := strings.Cut(o.Split, " ")
	return language
}

// DefaultOptions returns the default settings.
func DefaultOptions() Options {
	return Options{
		Format: FormatAuto,
		// One damaged line in a crawl of millions must not stop a nightly run. The report gives the count.
		OnBadLine:  SkipBadLine,
		TextColumn: "text",
		// Encoders read at most about 512 tokens, about 4 KiB of text. 64 KiB leaves room for the metadata of a JSON
		// record. It still rejects minified scripts, dumps and files without line ends.
		MaxLineBytes: 64 << 10,
		// A shard of 250,000 rows has 0.5 GB of float16 embeddings at dim 1024, and a cell of two such shards takes
		// minutes on one machine. This is small enough to schedule, retry and add to every night, and large enough that
		// there are few cells.
		ShardSize: 250_000,
	}
}

// MaxShardSize is the largest row count whose row numbers fit in an int32, which index libraries use.
const MaxShardSize = 1<<31 - 1

// Validate reports all problems of the options in one badinput error.
func (o Options) Validate() error {
	var problems badinput.Problems
	problems.Unless(slices.Contains(formats(), o.Format), "format is %q, choose one of %s", o.Format, join(formats()))
	problems.Unless(o.OnBadLine == SkipBadLine || o.OnBadLine == FailBadLine, "on_bad_line is %q, choose %s or %s", o.OnBadLine, SkipBadLine, FailBadLine)
	if o.Encoding != "" {
		_, err := input.Charset(o.Encoding)
		problems.Unless(err == nil, "encoding is %q, which is not known; give a name such as windows-1252, utf-16, gb18030 or shift_jis", o.Encoding)
	}
	problems.Unless(o.TextColumn != "", "text_column is empty, name the column that holds the sentences")
	err := input.CheckLongest(o.MaxLineBytes)
	problems.Unless(err == nil, "%v", err)
	problems.Unless(o.ShardSize >= 1 && o.ShardSize <= MaxShardSize, "shard_size is %d, choose a number from 1 to %d", o.ShardSize, MaxShardSize)
	return problems.Err("corpus options: ")
}

func join[S ~string](names []S) string {
	parts := make([]string, len(names))
	for i, n := range names {
		parts[i] = string(n)
	}
	return strings.Join(parts, ", ")
}
