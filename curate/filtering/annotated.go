package filtering

import (
	"slices"
	"strconv"
	"strings"

	"bitextmine/bitext/table"
	"bitextmine/filter/annotate"
	"bitextmine/internal/badinput"
)

// The keys that an annotated Parquet file has in its metadata.
const (
	metadataVersion = "mine.annotations"
	metadataOf      = "mine.annotations.of"
	metadataRules   = "mine.filter"
)

// annotatedOf says what annotations were computed of: the columns of the texts, and the languages that were stated for
// them. A language is empty if the columns of languages name it, or nothing does.
type annotatedOf struct{ columns, languages [2]string }

func subjectOf(opts table.Options) annotatedOf {
	return annotatedOf{[2]string{opts.SourceColumn, opts.TargetColumn}, [2]string{opts.Source, opts.Target}}
}

// usual is what annotations of a file without metadata are of: the usual columns.
var usual = subjectOf(table.DefaultOptions())

func (a annotatedOf) String() string {
	return strings.Join(slices.Concat(a.columns[:], a.languages[:]), "\t")
}

// readAnnotatedOf reads the metadata; without any it is usual.
func readAnnotatedOf(metadata map[string]string) annotatedOf {
	fields := strings.Split(metadata[metadataOf], "\t")
	if len(fields) != 4 {
		return usual
	}
	return annotatedOf{[2]string(fields[:2]), [2]string(fields[2:])}
}

// serves reports whether annotations of a may be used for a run with the options. A language that the options do not
// state is that of the file.
func (a annotatedOf) serves(opts table.Options) bool {
	want := subjectOf(opts)
	for side, language := range want.languages {
		if language != "" && language != a.languages[side] {
			return false
		}
	}
	return want.columns == a.columns
}

// isAnnotated reports whether a file has every annotation, computed as this program does.
func isAnnotated(b *table.Batch, metadata map[string]string) bool {
	if version, ok := metadata[metadataVersion]; ok && version != strconv.Itoa(annotate.Version) {
		return false
	}
	for _, name := range annotate.Names() {
		// A bitext of mine run has the columns of language identification; the others only come from filtering.
		if !b.Has(name) {
			return false
		}
	}
	return true
}

// Disown has annotations computed again where a file with these metadata is written with other texts than they are of:
// other columns, or changed texts.
func Disown(metadata map[string]string, written table.Options, changed bool) {
	_, annotated := metadata[metadataVersion]
	if of := readAnnotatedOf(metadata).columns; annotated && (changed || of != subjectOf(written).columns) {
		metadata[metadataVersion] = "0"
	}
}

// refuseNames refuses columns of a user's own that have names of annotations, which would replace them. In an annotated
// file they are annotations, also where an earlier version had fewer; those of identified languages are from mine run.
func refuseNames(b *table.Batch, metadata map[string]string, files []string) error {
	names := slices.DeleteFunc(annotate.Names(), func(name string) bool { return strings.HasPrefix(name, "lid_") })
	own := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !b.Has(name) })
	if _, annotated := metadata[metadataVersion]; annotated || len(own) == 0 || len(own) == len(names) {
		return nil
	}
	return badinput.Errorf("%s: annotations, which are columns of these names, would replace %s: rename the columns or leave them out",
		strings.Join(files, ", "), strings.Join(own, ", "))
}

// withLanguages sets the columns of languages to those that are stated.
func withLanguages(b *table.Batch, opts table.Options) (*table.Batch, error) {
	var stated []table.Values
	for _, c := range []struct{ name, language string }{{table.SourceLanguage, opts.Source}, {table.TargetLanguage, opts.Target}} {
		if c.language != "" {
			stated = append(stated, table.Values{Name: c.name, Text: slices.Repeat([]string{c.language}, b.Len())})
		}
	}
	return b.With(stated...)
}
