package exporting

import (
	"fmt"
	"io"
	"slices"

	"bitextmine/bitext/table"
	"bitextmine/internal/badinput"
)

// Breaks says what happens to the characters in a text that divide fields or lines of a format.
type Breaks string

// The choices.
const (
	Escape  Breaks = "escape" // written as \t, \n and \r, and a backslash as \\
	Replace Breaks = "space"  // replaced by a space
	Refuse  Breaks = "refuse" // an error that names the row
)

// ParseBreaks reads a choice.
func ParseBreaks(name string) (Breaks, error) {
	all := []Breaks{Escape, Replace, Refuse}
	if b := Breaks(name); slices.Contains(all, b) {
		return b, nil
	}
	return "", badinput.Errorf("%q is no way to write line breaks and tabs: give %s, %s or %s", name, all[0], all[1], all[2])
}

// FormatOptions are the settings of writers.
type FormatOptions struct {
	SourceColumn, TargetColumn string
	Source, Target             string // languages of a table without columns of languages
	Breaks                     Breaks
	Metadata                   map[string]string // the table's metadata, for formats that have a place for it
	Version                    string            // the program's
}

// Writer writes batches that have the same columns. One goroutine may use it. Close must be called last; it does not
// close what is written to.
type Writer interface {
	Write(b *table.Batch) error
	Close() error
}

// Format is a format of one file, or of two.
type Format struct {
	Name  string
	Sides bool // it has a file for each side
	Plain bool // it may be compressed as a whole
	// Languages says that it names the languages of its texts. Such a format is one for translators, who have no use for
	// columns unless they name them.
	Languages bool
	Lines     bool // lists are joined by commas
	open      func(to []io.Writer, opts FormatOptions) Writer
}

// Formats lists the formats in the order of documents.
var Formats = []Format{
	{Name: "tsv", Plain: true, Lines: true, open: newTSV},
	{Name: "csv", Plain: true, Lines: true, open: newCSV},
	{Name: "moses", Sides: true, Plain: true, open: newMoses},
	{Name: "tmx", Plain: true, Languages: true, open: newUnits(tmx)},
	{Name: "xliff", Plain: true, Languages: true, open: newUnits(xliff)},
	{Name: "po", Plain: true, Languages: true, open: newUnits(po)},
	{Name: "jsonl", Plain: true, open: newJSONL},
	{Name: "parquet", open: newParquet},
}

// Open starts a file of the format; of one with two sides both.
func (f *Format) Open(to []io.Writer, opts FormatOptions) Writer { return f.open(to, opts) }

func newParquet(to []io.Writer, opts FormatOptions) Writer {
	return table.NewParquetWriter(to[0], opts.Metadata)
}

// breaker writes texts into a format with lines, by a choice.
type breaker struct {
	breaks  Breaks
	divides [256]bool // characters that are not written as they are
}

func newBreaker(breaks Breaks, characters string) *breaker {
	b := &breaker{breaks: breaks}
	if breaks == Escape {
		characters += `\`
	}
	for _, c := range []byte(characters) {
		b.divides[c] = true
	}
	return b
}

var escapes = map[byte]string{'\t': `\t`, '\n': `\n`, '\r': `\r`, '\\': `\\`}

// write changes dst[from:], which is a text of a row, to what is to be written.
func (b *breaker) write(dst []byte, from int, row uint64, column string) ([]byte, error) {
	for _, c := range dst[from:] {
		if b.divides[c] {
			return b.replace(dst, from, row, column)
		}
	}
	return dst, nil
}

func (b *breaker) replace(dst []byte, from int, row uint64, column string) ([]byte, error) {
	text := string(dst[from:])
	dst = dst[:from]
	for i := range len(text) {
		c := text[i]
		switch {
		case !b.divides[c]:
			dst = append(dst, c)
		case b.breaks == Escape:
			dst = append(dst, escapes[c]...)
		case b.breaks == Replace:
			dst = append(dst, ' ')
		default:
			return dst, badinput.Errorf("row %d: the column %s has a tab or a line break, which the format cannot have: choose another --line-breaks", row, column)
		}
	}
	return dst, nil
}

// bufferSize is the number of bytes that are written at a time. It fits into a processor's cache.
const bufferSize = 256 << 10

// buffered writes what is in a buffer if it is full, and returns the buffer to go on with.
func buffered(to io.Writer, buffer []byte) ([]byte, error) {
	if len(buffer) < bufferSize {
		return buffer, nil
	}
	return buffer[:0], flush(to, buffer)
}

// flush writes a buffer.
func flush(to io.Writer, buffer []byte) error {
	if _, err := to.Write(buffer); err != nil {
		return fmt.Errorf("write the export: %w", err)
	}
	return nil
}
