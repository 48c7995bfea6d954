package corpus

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"bitextmine/internal/badinput"
)

// MaxMetadataBytes is the maximum length of a value of metadata: they all are in memory when documents are paired.
const MaxMetadataBytes = 1024

// MetadataColumns reads a list of columns that hold documents' metadata, with commas between them. One that has another
// name on the target side is written SOURCE=TARGET. It returns the columns of both sides, for Options.MetaColumns.
func MetadataColumns(list string) (sides [2]string, err error) {
	if list == "" {
		return sides, nil
	}
	var names [2][]string
	for column := range strings.SplitSeq(list, ",") {
		source, target, apart := strings.Cut(strings.TrimSpace(column), "=")
		if !apart {
			target = source
		}
		for side, name := range [2]string{source, target} {
			if name = strings.TrimSpace(name); name == "" || strings.Contains(name, "=") {
				return sides, badinput.Errorf(
					"%q is no list of columns; write it like date,source or, where their names differ, datum=date,source",
					list)
			}
			if slices.Contains(names[side], name) {
				return sides, badinput.Errorf("%q names column %q twice; leave one of them out", list, name)
			}
			names[side] = append(names[side], name)
		}
	}
	return [2]string{strings.Join(names[0], ","), strings.Join(names[1], ",")}, nil
}

// Metadata is the columns that hold documents' metadata.
func (o Options) Metadata() []string {
	if o.MetaColumns == "" {
		return nil
	}
	return strings.Split(o.MetaColumns, ",")
}

// PageCopies is how often a page of Parquet may stand in memory: each column with a page, a dictionary, and the
// dictionary's entries, which take up to six times its bytes.
func (o Options) PageCopies() int64 { return 8 * int64(len(o.columns())) }

// firstMetadata is the place of the first of Metadata in columns.
const firstMetadata = 3

// columns are all columns that are read, by the fields of a record; an empty name stands for none.
func (o Options) columns() []string {
	return append([]string{o.TextColumn, o.DocColumn, o.URLColumn}, o.Metadata()...)
}

// metadata copies a record's, or sets the record's reason.
func (rec *record) metadata(o Options) (values []string, ok bool) {
	for i, value := range rec.meta {
		if len(value) > MaxMetadataBytes {
			rec.reason = ReasonTooLong
			rec.detail = fmt.Sprintf("column %q has %d bytes, of metadata at most %d are read", o.Metadata()[i],
				len(value), MaxMetadataBytes)
			return nil, false
		}
		if !utf8.Valid(value) {
			rec.reason, rec.detail = ReasonNotUTF8, invalidAt(value)
			return nil, false
		}
		values = append(values, string(value))
	}
	return values, true
}

// Place is where a sentence stands in a record that was divided.
type Place struct {
	Paragraph, Position uint32 // numbers of the paragraph and of the sentence in the record, from 0
	Start, End          uint32 // the sentence in bytes of the record's text
}
