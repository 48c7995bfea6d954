package documents

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/corpus/split"
	"bitextmine/filter/language"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// sortOptions are the flags of mine sort.
type sortOptions struct {
	languages, out, by, model, column string
	minScore                          float64
	in                                corpus.Options
	format                            string
}

// What a row of the output is.
const (
	bySentence = "sentence"
	byDocument = "document"
)

// otherLanguages is the name of the file of all languages that were not asked for.
const otherLanguages = "other"

// NewSort makes mine sort.
func NewSort() *cobra.Command {
	o := sortOptions{in: corpus.DefaultOptions()}
	o.in.MaxLineBytes = corpus.MaxRecordBytes
	cmd := &cobra.Command{
		Use:   "sort FILE...",
		Short: "Divide mixed text into a file for each language",
		Long: `Divide text in several languages into DIR/LANGUAGE.jsonl, for mine run. Files are as for mine run. The language is
identified by CLD2, by a model of fastText (--model lid.176.ftz; .bin and .ftz), or it is in a column (--lang-column).
Text in other languages, and text whose language is not sure enough (--min-score), goes to DIR/other.jsonl.

With --by document a record goes as it is to the file of its language. With --by sentence it is divided into
sentences by the rules of its language, and each goes to the file of its own; a sentence that is too short to be
identified goes with its record. Rows have text, doc, url, file, line, language and score.`,
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
	f.StringVar(&o.format, "format", string(corpus.FormatAuto), "format of the files")
	f.StringVar(&o.in.TextColumn, "text-column", o.in.TextColumn, "column of the text")
	f.StringVar(&o.in.DocColumn, "doc-column", "", "column of the document's id")
	f.StringVar(&o.in.URLColumn, "url-column", "", "column of its address")
	return cmd
}

// sortedRow is a row of the output.
type sortedRow struct {
	Text     string  `json:"text"`
	Doc      string  `json:"doc"`
	URL      string  `json:"url"`
	File     string  `json:"file"`
	Line     uint64  `json:"line"`
	Language string  `json:"language"`
	Score    float64 `json:"score"`
}

// sorter sorts records.
type sorter struct {
	*sortOptions
	identify func(text string) (code string, score float64)
	outputs  map[string]*bufio.Writer
	rows     map[string]int
	skipped  map[corpus.Reason]uint64
	found    []split.Sentence
}

func (o *sortOptions) run(ctx context.Context, args []string, stdout io.Writer) error {
	s, err := o.sorter(args)
	if err != nil {
		return err
	}
	files, err := input.Expand(nil, args)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return badinput.Errorf("%s cannot be made (%w); name another directory with --out", o.out, err)
	}
	err = s.open(slices.Sorted(maps.Keys(s.outputs)), func() error {
		for _, file := range files {
			if err := s.file(ctx, file); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, code := range slices.Sorted(maps.Keys(s.rows)) {
		fmt.Fprintf(stdout, "%8d  %s\n", s.rows[code], filepath.Join(o.out, code+".jsonl"))
	}
	for _, reason := range corpus.Reasons {
		if n := s.skipped[reason]; n > 0 {
			fmt.Fprintf(stdout, "%8d  left out: %s\n", n, reason)
		}
	}
	return nil
}

func (o *sortOptions) sorter(args []string) (*sorter, error) {
	switch {
	case len(args) == 0:
		return nil, badinput.Errorf("mine sort: name one or more files")
	case o.languages == "":
		return nil, badinput.Errorf("--langs is missing: name the languages to sort out, such as de,en")
	case o.out == "":
		return nil, badinput.Errorf("--out is missing: name the directory to write to")
	case o.by != bySentence && o.by != byDocument:
		return nil, badinput.Errorf("--by is %q: give %s or %s", o.by, bySentence, byDocument)
	case o.model != "" && o.column != "":
		return nil, badinput.Errorf("--model identifies the language, which --lang-column gives: leave one of them out")
	}
	s := &sorter{sortOptions: o, outputs: map[string]*bufio.Writer{otherLanguages: nil}, rows: map[string]int{otherLanguages: 0}, skipped: map[corpus.Reason]uint64{}}
	for code := range strings.SplitSeq(o.languages, ",") {
		canonical, err := corpus.ParseLanguage(strings.TrimSpace(code))
		if err != nil {
			return nil, err
		}
		s.outputs[canonical], s.rows[canonical] = nil, 0
	}
	o.in.Format, o.in.MetaColumns = corpus.Format(o.format), o.column
	var err error
	s.identify, err = identifier(o.model)
	return s, err
}

// identifier identifies languages by CLD2, or by a model of fastText.
func identifier(path string) (func(text string) (string, float64), error) {
	if path == "" {
		of := language.For("")
		return func(text string) (string, float64) {
			guess := of.Identify(text)
			return guess.Code, float64(guess.Share)
		}, nil
	}
	model, err := language.OpenFastText(path)
	if err != nil {
		return nil, err
	}
	codes := map[string]string{}
	for _, label := range model.Labels() {
		if code, err := corpus.ParseLanguage(label); err == nil {
			codes[label] = code
		}
	}
	if len(codes) == 0 {
		return nil, badinput.Errorf("%s: none of its labels, such as %q, is a language; name a model that identifies languages", path, model.Labels()[0])
	}
	return func(text string) (string, float64) {
		best := model.Predict(text, 1)
		if len(best) == 0 {
			return "", 0
		}
		return codes[best[0].Label], min(float64(best[0].Probability), 1)
	}, nil
}

// open opens the outputs of languages, calls work and publishes them all.
func (s *sorter) open(languages []string, work func() error) error {
	if len(languages) == 0 {
		return work()
	}
	return atomicfile.Write(filepath.Join(s.out, languages[0]+".jsonl"), func(f *os.File) error {
		out := bufio.NewWriter(f)
		s.outputs[languages[0]] = out
		if err := s.open(languages[1:], work); err != nil {
			return err
		}
		return out.Flush()
	})
}

func (s *sorter) file(ctx context.Context, file input.File) (err error) {
	r, err := corpus.Open(file, s.in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	for {
		record, err := r.NextContext(ctx)
		if errors.Is(err, io.EOF) || errors.Is(err, corpus.ErrEmpty) {
			break
		}
		if err == nil {
			err = s.record(file.Path, record)
		}
		if err != nil {
			return err
		}
	}
	for reason, n := range r.Counts().Skipped {
		s.skipped[reason] += n
	}
	return nil
}

// record writes a record, or its sentences, to the files of their languages.
func (s *sorter) record(path string, r corpus.Sentence) error {
	row := sortedRow{Text: r.Text, Doc: r.Doc, URL: r.URL, File: path, Line: r.Line}
	row.Language, row.Score = s.languageOf(r.Normal, r.Meta)
	if s.by == byDocument {
		return s.write(row)
	}
	rules := cmp.Or(row.Language, "en") // its rules serve most languages
	splitter, err := split.For(rules)
	if err != nil {
		return err
	}
	whole := row
	s.found = splitter.Append(s.found[:0], r.Text, split.Options{})
	for _, x := range s.found {
		row.Text = corpus.Normalise(r.Text[x.Start:x.End])
		row.Language, row.Score = whole.Language, whole.Score
		if s.column == "" {
			if code, score := s.identify(row.Text); code != "" {
				row.Language, row.Score = code, score
			}
		}
		if row.Text == "" {
			continue
		}
		if err := s.write(row); err != nil {
			return err
		}
	}
	return nil
}

func (s *sorter) languageOf(text string, columns []string) (code string, score float64) {
	if s.column == "" {
		return s.identify(text)
	}
	code, err := corpus.ParseLanguage(columns[0])
	if err != nil {
		return "", 0
	}
	return code, 1
}

func (s *sorter) write(row sortedRow) error {
	to := row.Language
	if _, wanted := s.outputs[to]; !wanted || row.Score < s.minScore {
		to = otherLanguages
	}
	s.rows[to]++
	data, err := encoded(row)
	if err == nil {
		_, err = s.outputs[to].Write(data)
	}
	return err
}
