package documents

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/corpus/split"
	"bitextmine/internal/badinput"
	"bitextmine/internal/textfile"
	"bitextmine/pipeline/multiway"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/stage/shard"
)

// splitOptions are the flags of mine split.
type splitOptions struct {
	flags.Settings
	language, rules string
	wrapped         bool
	in              corpus.Options
	format, out     string
}

// NewSplit makes mine split.
func NewSplit() *cobra.Command {
	o := splitOptions{in: corpus.DefaultOptions()}
	o.in.MaxLineBytes, o.in.ColumnFlags = corpus.MaxRecordBytes, corpus.OwnFlags
	cmd := &cobra.Command{
		Use:   "split FILE...",
		Short: "Divide documents into sentences",
		Long: `Divide documents into sentences by segmentation rules (SRX 2.0): those of the program, which have
abbreviations and punctuation of 19 groups of languages and serve every other one by its full stops, or those of
--srx; or by a SaT model (--splitter). Files are as for mine run: in JSON lines, TSV and Parquet a record is a
document, in plain text a line is a paragraph; with --wrapped lines end anywhere, and an empty line ends a paragraph.
In subtitles (SRT, WebVTT) a cue is a paragraph. A file of plain text or subtitles is a document, whose id is its path.

--format lines writes a sentence on each line, and an empty line after each document of several. --format jsonl writes
an object for each: text, doc, url, file, line (of the record), paragraph and position in the record, from 0, and
start and end, in bytes of the record's text. mine run reads it with --doc-column doc --url-column url.`,
		Example: `  mine split report.txt --lang de --wrapped --out report.de
  mine split pages.jsonl.gz --lang en --doc-column id --url-column url --out pages.en.jsonl`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.RegisterSome(cmd, flags.Declared("splitter", "splitter_threshold", "onnxruntime", "threads"))
	f := cmd.Flags()
	f.StringVar(&o.language, "lang", "", "language of the documents")
	f.StringVar(&o.rules, "srx", "", "file of segmentation rules (default: the program's)")
	f.BoolVar(&o.wrapped, "wrapped", false, "a line end is no end of a paragraph, only an empty line is")
	f.StringVar(&o.in.TextColumn, "text-column", o.in.TextColumn, "column of the text")
	f.StringVar(&o.in.DocColumn, "doc-column", "", "column of the document's id")
	f.StringVar(&o.in.URLColumn, "url-column", "", "column of its address")
	f.StringVar(&o.in.MetaColumns, "doc-meta", "",
		"columns of its metadata, such as date,source; --format jsonl writes them under these names")
	f.IntVar(&o.in.MaxLineBytes, "max-bytes", o.in.MaxLineBytes, "of a document; a longer one is set aside")
	f.StringVar(&o.format, "format", "", "lines or jsonl (default: by the ending of --out, else lines)")
	f.StringVar(&o.out, "out", "", "file to write (default: standard output)")
	flags.Text.Mark(f, "out")
	return cmd
}

func (o *splitOptions) run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	if o.format == "" {
		o.format = "lines"
		if strings.HasSuffix(textfile.Stem(o.out), ".jsonl") {
			o.format = "jsonl"
		}
	}
	switch {
	case len(args) == 0:
		return badinput.Errorf("mine split: name one or more files of documents")
	case o.language == "":
		return badinput.Errorf("--lang is missing: name the documents' language, such as de")
	case o.in.MaxLineBytes < 1 || o.in.MaxLineBytes > 1<<30:
		return badinput.Errorf("--max-bytes is %d: give a number from 1 to %d", o.in.MaxLineBytes, 1<<30)
	case o.format != "lines" && o.format != "jsonl":
		return badinput.Errorf("--format is %q: give lines or jsonl", o.format)
	}
	if err := o.checkMetadata(); err != nil {
		return err
	}
	files, err := input.Expand(nil, args)
	if err != nil {
		return err
	}
	s, free, err := o.splitter()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, free()) }()
	job := &splitJob{splitOptions: o, splitter: s, several: len(files) > 1, aside: map[string]uint64{}, first: map[string]string{}}
	write := func(w io.Writer) error {
		job.out = bufio.NewWriterSize(w, 256<<10)
		for _, file := range files {
			err := job.file(ctx, file)
			if errors.Is(err, corpus.ErrEmpty) && len(files) > 1 {
				job.empty++
			} else if err != nil {
				return err
			}
		}
		return job.out.Flush()
	}
	if o.out == "" {
		err = write(stdout)
	} else {
		err = textfile.Write(o.out, write)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%d records, %d sentences\n", job.records, job.sentences)
	for _, reason := range slices.Sorted(maps.Keys(job.aside)) {
		fmt.Fprintf(stderr, "set aside: %d records (%s%s)\n", job.aside[reason], reason, job.first[reason])
	}
	if job.empty > 0 {
		fmt.Fprintf(stderr, "set aside: %d files (no text)\n", job.empty)
	}
	return nil
}

// checkMetadata refuses columns that the output has no place for, and --format lines, which has none for any.
func (o *splitOptions) checkMetadata() error {
	if o.in.MetaColumns != "" && o.format == "lines" {
		return badinput.Errorf("--doc-meta is %q, but --format lines writes sentences alone; give --format jsonl",
			o.in.MetaColumns)
	}
	return multiway.CheckMetadata(&o.in.MetaColumns, rowKeys)
}

// splitter opens what divides texts; free frees it.
func (o *splitOptions) splitter() (s split.Divider, free func() error, err error) {
	if o.language, err = corpus.ParseLanguage(o.language); err != nil {
		return nil, nil, err
	}
	cfg, _, err := o.Load()
	if err != nil {
		return nil, nil, err
	}
	if cfg.Splitter != "" {
		if o.rules != "" {
			return nil, nil, badinput.Errorf("--srx has rules, in whose place --splitter divides texts: leave one of them out")
		}
		learned, err := setting.OpenSplitter(cfg.Resources, cfg.Splitter, cfg.SplitterThreshold)
		return learned, learned.Close, err
	}
	s, err = o.byRules()
	return s, func() error { return nil }, err
}

func (o *splitOptions) byRules() (*split.Splitter, error) {
	load := split.Shipped
	if o.rules != "" {
		load = func() (*split.SRX, error) { return split.Load(o.rules) }
	}
	srx, err := load()
	if err != nil {
		return nil, err
	}
	return srx.Splitter(o.language)
}

// splitJob divides the documents of files.
type splitJob struct {
	*splitOptions
	splitter           split.Divider
	out                *bufio.Writer
	found              []split.Sentence
	records, sentences int
	empty              int               // files without text
	aside              map[string]uint64 // records set aside, by reason
	first              map[string]string // what is wrong with the first of them, and where
	last               lastDocument
	pages              bool // the text of the file that is read was taken out of HTML
	whole              bool // that file is one document: plain text, or subtitles
	several            bool // there are several files
}

func (j *splitJob) file(ctx context.Context, file input.File) (err error) {
	r, err := corpus.Open(file, j.in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	j.pages, j.whole = r.Format().Pages(), r.Format() == corpus.FormatText || r.Format().Subtitles()
	if j.whole {
		if j.in.DocColumn != "" || j.in.URLColumn != "" {
			return badinput.Errorf("%s (%s) has no columns: leave out --doc-column and --url-column, as its path is the document's id",
				file.Path, r.Format())
		}
		before := j.sentences
		defer func() { err = errors.Join(err, j.endDocument(j.several && j.sentences > before)) }()
	}
	if j.wrapped && r.Format() == corpus.FormatText {
		return j.wrappedFile(ctx, file)
	}
	for {
		s, err := r.NextContext(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		switch {
		case j.whole:
			s.Doc = file.Path
		case j.pages && s.Doc == "":
			s.Doc = nameOfPage(file.Path, s.Line)
		}
		if err := j.record(ctx, file.Path, s); err != nil {
			return err
		}
	}
	counts := r.Counts()
	if r.Format() == corpus.FormatText { // A blank line is no record.
		delete(counts.Skipped, corpus.ReasonEmpty)
	}
	j.count(file, counts)
	return nil
}

// nameOfPage is the id of a page that has none: the path of its file, and which page in it where that has several.
func nameOfPage(path string, number uint64) string {
	if number == 1 {
		return path
	}
	return fmt.Sprintf("%s:%d", path, number)
}

// count adds the counts of a file that has been read, and warns of its lines.
func (j *splitJob) count(file input.File, counts corpus.Counts) {
	for _, warning := range []string{counts.TabsWarning(file.Path), shard.OtherCharset(file, counts, "", "", j.language)} {
		if warning != "" {
			slog.Warn(warning)
		}
	}
	for reason, skipped := range counts.Skipped {
		j.aside[string(reason)] += skipped
	}
	for _, skip := range counts.Examples {
		if reason := string(skip.Reason); j.first[reason] == "" && skip.Detail != "" {
			j.first[reason] = fmt.Sprintf("; %s:%d: %s", file.Path, skip.Line, skip.Detail)
		}
	}
}

// wrappedFile reads paragraphs of plain text, which empty lines divide.
func (j *splitJob) wrappedFile(ctx context.Context, file input.File) (err error) {
	lines, err := corpus.OpenLines(file, j.in.MaxLineBytes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lines.Close()) }()
	var text strings.Builder
	var counts corpus.Counts
	first := uint64(1)
	end := func(next uint64) error {
		s := corpus.Sentence{Text: text.String(), Doc: file.Path, Line: first}
		text.Reset()
		first = next
		if strings.TrimSpace(s.Text) == "" {
			return nil
		}
		return j.record(ctx, file.Path, s)
	}
	for {
		line, err := lines.Next()
		if errors.Is(err, io.EOF) {
			j.count(file, counts)
			return end(0)
		}
		if err != nil {
			return err
		}
		counts.Lines++
		switch {
		case line.Reason != "" || strings.TrimSpace(line.Text) == "": // What is set aside parts the text around it.
			if line.Reason != "" {
				counts.Skip(line.Number, line.Reason, line.Detail)
			}
			if err := end(line.Number + 1); err != nil {
				return err
			}
			continue
		case text.Len()+len(line.Text) >= j.in.MaxLineBytes:
			if err := end(line.Number); err != nil {
				return err
			}
		}
		text.WriteString(line.Text)
		text.WriteByte('\n')
	}
}
