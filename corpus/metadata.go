package corpus

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/language"

	"bitextmine/internal/badinput"
	"bitextmine/internal/subtag"
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

// optional reports whether a file may be without the i-th of columns.
func (o Options) optional(i int) bool { return o.OptionalURL && i == 2 }

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

// ParseLanguage returns the program's name for a language, given any of its usual codes: ISO 639-1 (de), ISO 639-2 and
// 639-3 (ger, deu), FLORES (deu_Latn), BCP 47 (de-AT). The name is the shortest BCP 47 tag:
//
//   - the language, in two letters if it has a two-letter code. A code for the usual member of a macrolanguage becomes
//     the macrolanguage (cmn is zh, arb is ar, pes is fa, lvs is lv). A retired code becomes its successor (iw is he).
//   - the script, unless it is the one that the language is usually written in (de, zh, zh-Hant, ar-Latn, sr-Latn). If
//     no usual script is known, the given script stays.
//   - no region. A region only decides the script if it implies one (zh-TW is zh-Hant).
//
// A code that names no language is a badinput error.
func ParseLanguage(code string) (string, error) {
	unknown := badinput.Errorf(
		"language %q: not a known code; use ISO 639-1, ISO 639-3 or FLORES, such as de, deu or deu_Latn", code)
	// BCP 47 reads a second part of three letters as an extended language, so that deu_Lat, misspelt, would be Latin.
	parts := strings.FieldsFunc(code, func(r rune) bool { return r == '-' || r == '_' })
	if len(parts) > 1 && len(parts[1]) == 3 && !unicode.IsDigit(rune(parts[1][0])) {
		return "", unknown
	}
	tag, err := language.All.Parse(code)
	if err != nil {
		return "", unknown
	}
	base, confidence := tag.Base()
	if confidence != language.Exact {
		return "", unknown // undetermined: x/text would guess a language
	}
	switch base.ISO3() {
	case "mul", "mis", "zxx", "und", "":
		return "", badinput.Errorf(
			"language %q: the code does not stand for a single language; use the code of the corpus's language", code)
	}
	script, confidence := tag.Script()
	usual, _ := language.Make(base.String()).Script()
	if confidence == language.No || script == usual || script == language.MustParseScript("Zzzz") {
		return base.String(), nil
	}
	return base.String() + "-" + script.String(), nil
}

// Lists says whether a language is among those of a list of codes, scripts aside. A list that is empty says nothing of
// any language, so that each is taken to be there.
func Lists(codes []string, language string) bool {
	base := func(code string) string {
		if canonical, err := ParseLanguage(code); err == nil {
			code = canonical
		}
		return subtag.Language(code)
	}
	language = base(language)
	return len(codes) == 0 || slices.ContainsFunc(codes, func(code string) bool { return base(code) == language })
}
