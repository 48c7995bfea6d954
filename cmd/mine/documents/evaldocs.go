package documents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/align/document"
	"bitextmine/align/match"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/eval/documents"
	"bitextmine/eval/report"
	"bitextmine/internal/badinput"
)

// pairingOptions are the flags of mine eval docs.
type pairingOptions struct {
	flags.Settings
	match                          match.Options
	made                           documents.PairingOptions
	source, target                 string
	sourceText, targetText, others []string
	meta                           []string
	format                         string
}

// NewEvalDocs makes mine eval docs.
func NewEvalDocs() *cobra.Command {
	o := pairingOptions{match: match.DefaultOptions(), made: documents.DefaultPairingOptions()}
	cmd := &cobra.Command{
		Use:   "docs --src-text FILE --tgt-text FILE --src LANGUAGE --tgt LANGUAGE",
		Short: "Measure how many documents mine docs pairs correctly, on documents made of line-aligned text",
		Long: `Measure how many documents mine docs pairs correctly. From line-aligned files it makes --documents documents
of --lines lines, of which each side lacks 15%. The target collection has as many others: of the lines of --others,
or, without it, each of half of two of the right ones, whose every sentence has a translation in some source document.

With --near N, N documents each share all lines but one, as daily reports do. Documents are made with metadata, of
which --doc-meta says what counts: date (that of a translation is the same day in 7 of 10, else one of the next two)
and source (one of eight, the same for N documents); either is missing in a tenth of each side's documents.`,
		Example: `  mine eval docs --src de --tgt en --src-text flores.de,ntrex.de --tgt-text flores.en,ntrex.en
  mine eval docs --src de --tgt en --src-text flores.de,ntrex.de --tgt-text flores.en,ntrex.en --others news.en`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	o.RegisterSome(cmd, flags.Declared("encoder", "onnxruntime", "threads", "max_line_bytes"))
	f := cmd.Flags()
	f.StringVar(&o.source, "src", "", "source language")
	f.StringVar(&o.target, "tgt", "", "target language")
	f.StringSliceVar(&o.sourceText, "src-text", nil, "source files")
	f.StringSliceVar(&o.targetText, "tgt-text", nil, "target files, line-aligned with the source files")
	f.StringSliceVar(&o.others, "others", nil,
		"files of other text in the target language (default: halves of the right documents)")
	f.IntVar(&o.made.Documents, "documents", o.made.Documents, "documents with a translation")
	f.IntVar(&o.made.Lines, "lines", o.made.Lines, "lines of a document")
	f.IntVar(&o.made.Near, "near", o.made.Near, "documents that share all lines but one (1: none do)")
	f.StringSliceVar(&o.meta, "doc-meta", nil, "metadata that counts: date, source")
	f.Float64Var(&o.match.MetaBonus, "meta-bonus", o.match.MetaBonus,
		"added for each field of metadata that agrees, or taken away, at most")
	f.Uint64Var(&o.made.Seed, "seed", o.made.Seed, "of what is left out")
	f.IntVar(&o.match.Candidates, "candidates", o.match.Candidates, "documents that each is compared with")
	f.Float64Var(&o.match.MinScore, "min-score", o.match.MinScore, "only pairs with at least this score")
	f.StringVar(&o.format, "format", "table", "table, json, tsv, markdown")
	return cmd
}

func (o *pairingOptions) run(ctx context.Context, out io.Writer) (err error) {
	format, err := report.ParseFormat(o.format)
	switch {
	case err != nil:
		return err
	case len(o.sourceText) == 0 || len(o.sourceText) != len(o.targetText):
		return badinput.Errorf("mine eval docs: give as many files with --src-text as with --tgt-text")
	case o.made.Documents < 1 || o.made.Lines < 2 || o.match.Candidates < 1 || o.made.Near < 1:
		return badinput.Errorf("mine eval docs: --documents, --candidates and --near must be " +
			"positive, and --lines at least 2")
	}
	if err := o.match.Validate(); err != nil {
		return err
	}
	for _, field := range o.meta {
		if !slices.Contains(documents.PairingFields, field) {
			return badinput.Errorf("--doc-meta names %q, but the metadata that is made is %s", field,
				strings.Join(documents.PairingFields, ", "))
		}
	}
	languages, err := flags.BothLanguages("mine eval docs", o.source, o.target)
	if err != nil {
		return err
	}
	cfg, _, err := o.Load()
	if err != nil {
		return err
	}
	made, err := o.make(cfg.MaxLineBytes)
	if err != nil {
		return err
	}
	m, e, err := program.OpenEncoder(cfg)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	var sides [2]*match.Side
	for side, texts := range [2][][]string{made.Source, made.Target} {
		c := &document.Collection{}
		for k, sentences := range texts {
			d := document.New("", languages[side], sentences)
			for _, field := range o.meta {
				d.Metadata = append(d.Metadata, made.Metadata[side][k][slices.Index(documents.PairingFields, field)])
			}
			c.Documents = append(c.Documents, d)
		}
		if sides[side], err = c.Side(ctx, e); err != nil {
			return err
		}
	}
	pairs, err := match.Match(ctx, sides[0], sides[1], o.match)
	if err != nil {
		return err
	}
	r := documents.NewPairingReport(m.Name)
	documents.AddPairingRow(r, o.name(), made, pairs)
	return program.WriteReports(out, format, r)
}

// name says in the report how the documents are made.
func (o *pairingOptions) name() string {
	name := "halves of right ones"
	if len(o.others) > 0 {
		name = "others"
	}
	if o.made.Near > 1 {
		name += fmt.Sprintf(", %d near duplicates", o.made.Near)
	}
	for _, field := range o.meta {
		name += ", " + field
	}
	return name
}

// make reads the text and makes documents of it.
func (o *pairingOptions) make(maxLine int) (*documents.Pairing, error) {
	var source, target, others []string
	for k := range o.sourceText {
		a, err := document.Read(o.sourceText[k], "", maxLine)
		if err != nil {
			return nil, err
		}
		b, err := document.Read(o.targetText[k], "", maxLine)
		if err != nil {
			return nil, err
		}
		if !slices.Equal(a.Lines, b.Lines) {
			return nil, badinput.Errorf("%s and %s must have text on the same lines", o.sourceText[k], o.targetText[k])
		}
		source, target = append(source, a.Sentences...), append(target, b.Sentences...)
	}
	for _, path := range o.others {
		d, err := document.Read(path, "", maxLine)
		if err != nil {
			return nil, err
		}
		others = append(others, d.Sentences...)
	}
	need, needOthers := o.made.Need(), o.made.Documents*o.made.Lines
	if len(source) < need || len(o.others) > 0 && len(others) < needOthers {
		return nil, badinput.Errorf("mine eval docs: %d documents of %d lines need %d lines of text, and %d in "+
			"--others: there are %d, and %d",
			o.made.Documents, o.made.Lines, need, needOthers, len(source), len(others))
	}
	made := documents.MakePairing(source, target, others, o.made)
	return &made, nil
}
