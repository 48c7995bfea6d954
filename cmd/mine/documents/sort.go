package documents

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/config"
	"bitextmine/pipeline/multiway"
)

// sortOptions are the flags of mine sort.
type sortOptions struct {
	languages, out, by, model, column, onBad string
	minScore                                 float64
	in                                       corpus.Options
	format                                   string
}

// What a row of the output is.
const (
	bySentence = "sentence"
	byDocument = "document"
)

// NewSort makes mine sort.
func NewSort() *cobra.Command {
	o := sortOptions{in: corpus.DefaultOptions()}
	o.in.MaxLineBytes, o.in.ColumnFlags = corpus.MaxRecordBytes, corpus.OwnFlags
	cmd := &cobra.Command{
		Use:   "sort FILE...",
		Short: "Divide mixed text into a file for each language",
		Long: `Divide text in several languages into DIR/LANGUAGE.jsonl, for mine run. Files are as for mine run. The language is
identified by CLD2, by a model of fastText (--model lid.176.ftz; .bin and .ftz), or it is in a column (--lang-column).
Text in other languages, and text whose language is not sure enough (--min-score), goes to DIR/other.jsonl.

With --by document a record goes as it is to the file of its language. With --by sentence it is divided into
sentences by the rules of its language, and each goes to the file of its own; a sentence that is too short to be
identified goes with its record. Rows have text, doc, url, file, line, language and score, and what --doc-meta names.`,
		Example: `  mine sort crawl/*.warc.gz --langs de,en --out sorted
  mine run --src de --tgt en --src-text sorted/de.jsonl --tgt-text sorted/en.jsonl --doc-column doc --url-column url`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.languages, "langs", "", "languages to sort out, such as de,en")
	f.StringVar(&o.out, "out", "", "directory to write a file for each language to")
	f.StringVar(&o.by, "by", byDocument, "what goes to one file: document (a record as it is) or sentence")
	f.StringVar(&o.model, "model", "", "model of fastText that identifies languages (default: CLD2)")
	f.StringVar(&o.column, "lang-column", "", "column of the language, which is then not identified")
	f.Float64Var(&o.minScore, "min-score", 0.5, "probability of a language, or by CLD2 its share of the letters, from which it is believed")
	f.StringVar(&o.onBad, "on-bad-file", config.FailBadFile,
		"a file that cannot be used: fail, or skip, which also reads the rest of a damaged archive")
	f.StringVar(&o.format, "format", string(corpus.FormatAuto), "format of the files")
	f.StringVar(&o.in.TextColumn, "text-column", o.in.TextColumn, "column of the text")
	f.StringVar(&o.in.DocColumn, "doc-column", "", "column of the document's id")
	f.StringVar(&o.in.URLColumn, "url-column", "", "column of its address")
	f.StringVar(&o.in.MetaColumns, "doc-meta", "", "columns of its metadata, such as alternates,noai, which are written under these names")
	return cmd
}

func (o *sortOptions) run(ctx context.Context, args []string, stdout io.Writer) error {
	how, err := o.sorting(args)
	if err != nil {
		return err
	}
	files, broken, err := multiway.Readable(args, how.SkipBad)
	if err != nil {
		return err
	}
	s, err := multiway.Sort(ctx, files, o.out, how)
	if err != nil {
		return err
	}
	for _, warning := range slices.Concat(broken, s.Warnings, o.former(s)) {
		slog.Warn(warning)
	}
	for _, code := range slices.Sorted(maps.Keys(s.Rows)) {
		fmt.Fprintf(stdout, "%8d  %s\n", s.Rows[code], filepath.Join(o.out, code+".jsonl"))
	}
	for _, reason := range corpus.Reasons {
		if n := s.Skipped[reason]; n > 0 {
			fmt.Fprintf(stdout, "%8d  left out: %s\n", n, reason)
		}
	}
	if s.LeftOut > 0 {
		fmt.Fprintf(stdout, "%8d  lines left out: they stood on five pages of their site before\n", s.LeftOut)
	}
	return nil
}

// former warns of files of languages that this sorting did not write.
func (o *sortOptions) former(s *multiway.Sorted) (warnings []string) {
	files, _ := os.ReadDir(o.out) // it was written to a moment ago
	for _, file := range files {
		code, isText := strings.CutSuffix(file.Name(), ".jsonl")
		if _, wrote := s.Rows[code]; isText && !wrote {
			warnings = append(warnings, filepath.Join(o.out, file.Name())+" is not of this sorting: remove it if an earlier one wrote it")
		}
	}
	return warnings
}

func (o *sortOptions) sorting(args []string) (how multiway.Sorting, err error) {
	switch {
	case len(args) == 0:
		return how, badinput.Errorf("mine sort: name one or more files")
	case o.languages == "":
		return how, badinput.Errorf("--langs is missing: name the languages to sort out, such as de,en")
	case o.out == "":
		return how, badinput.Errorf("--out is missing: name the directory to write to")
	case o.by != bySentence && o.by != byDocument:
		return how, badinput.Errorf("--by is %q: give %s or %s", o.by, bySentence, byDocument)
	case !(o.minScore >= 0 && o.minScore <= 1): // a NaN is neither
		return how, badinput.Errorf("mine sort: --min-score %g must be from 0 to 1", o.minScore)
	case o.onBad != config.FailBadFile && o.onBad != config.SkipBadFile:
		return how, badinput.Errorf("--on-bad-file is %q: give %s or %s", o.onBad, config.FailBadFile, config.SkipBadFile)
	case o.model != "" && o.column != "":
		return how, badinput.Errorf("--model identifies the language, which --lang-column gives: leave one of them out")
	}
	if err := multiway.CheckMetadata(&o.in.MetaColumns, multiway.SortedKeys); err != nil {
		return how, err
	}
	o.in.Format = corpus.Format(o.format)
	how = multiway.Sorting{Model: o.model, Column: o.column, MinScore: o.minScore, Sentences: o.by == bySentence, In: o.in, SkipBad: o.onBad == config.SkipBadFile}
	for code := range strings.SplitSeq(o.languages, ",") {
		canonical, err := corpus.ParseLanguage(strings.TrimSpace(code))
		if err != nil {
			return how, err
		}
		how.Languages = append(how.Languages, canonical)
	}
	return how, nil
}
