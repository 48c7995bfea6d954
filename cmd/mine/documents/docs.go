package documents

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/align/document"
	"bitextmine/align/match"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/corpus"
	"bitextmine/encode/embedding"
	"bitextmine/internal/badinput"
	"bitextmine/internal/textfile"
	"bitextmine/pipeline"
	"bitextmine/pipeline/record"
)

// docsOptions are the flags of mine docs.
type docsOptions struct {
	flags.Settings
	match          match.Options
	source, target string
	meta, out      string
}

// NewDocs makes mine docs.
func NewDocs() *cobra.Command {
	o := docsOptions{match: match.DefaultOptions()}
	cmd := &cobra.Command{
		Use:   "docs SOURCE TARGET",
		Short: "Find which documents are translations of each other",
		Long: `Find which documents of two collections are translations of each other. A collection is what mine split
--format jsonl writes, with --doc-column: sentences with doc and, if there is one, url. Each document is compared with
those whose mean vectors are nearest, by BiMax: the mean over the sentences of either of the best cosine in the other;
the same address but for a language is a bonus. Each document is in one pair at most. The output is TSV, the best
pairs first: src_doc, tgt_doc, score, bimax, same_url. mine align-docs reads it (docs/documents.md).

--doc-meta names columns of metadata. A field whose values are equal adds up to --meta-bonus, the more the rarer the
value; different numbers take as much away, dates the more the further they are apart (all of it from a week on).
Different texts and what is missing count nothing. What each pair gained or lost is in the column metadata.

--src-emb and --tgt-emb name files of vectors that another program made of the collections, a row for each line (.npy,
or raw with --emb-dim).`,
		Example: `  mine split de.jsonl --lang de --doc-column id --url-column url --out de.sentences.jsonl
  mine docs de.sentences.jsonl en.sentences.jsonl --src de --tgt en --min-score 0.5 --out pairs.tsv
  mine align-docs de.sentences.jsonl en.sentences.jsonl --pairs pairs.tsv --src de --tgt en --out de-en.parquet`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.RegisterSome(cmd, flags.Declared("encoder", "onnxruntime", "threads", "max_line_bytes", "src_emb", "tgt_emb",
		"emb_dim", "emb_dtype"))
	f := cmd.Flags()
	f.StringVar(&o.source, "src", "", "source language")
	f.StringVar(&o.target, "tgt", "", "target language")
	f.StringVar(&o.meta, "doc-meta", "",
		"columns of metadata, such as date,source, or SOURCE=TARGET where the names differ")
	f.Float64Var(&o.match.MetaBonus, "meta-bonus", o.match.MetaBonus,
		"added for each field of metadata that agrees, or taken away, at most")
	f.StringVar(&o.out, "out", "", "file to write (default: standard output)")
	f.IntVar(&o.match.Candidates, "candidates", o.match.Candidates, "documents that each is compared with")
	f.Float64Var(&o.match.URLBonus, "url-bonus", o.match.URLBonus,
		"added to the score of the same address but for a language")
	f.Float64Var(&o.match.MinScore, "min-score", o.match.MinScore, "only pairs with at least this score")
	flags.Text.Mark(f, "out")
	return cmd
}

func (o *docsOptions) run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	if len(args) != 2 {
		return badinput.Errorf("mine docs: name a source and a target collection")
	}
	if err := o.match.Validate(); err != nil {
		return err
	}
	languages, err := flags.TwoLanguages("mine docs", o.source, o.target)
	if err != nil {
		return err
	}
	columns, err := corpus.MetadataColumns(o.meta)
	if err != nil {
		return badinput.Errorf("--doc-meta: %w", err)
	}
	cfg, _, err := o.Load()
	if err != nil {
		return err
	}
	var collections [2]*document.Collection
	for side, language := range languages {
		if collections[side], err = document.ReadCollection(ctx, args[side], language, columns[side],
			cfg.MaxLineBytes); err != nil {
			return err
		}
		fmt.Fprint(stderr, collections[side].Note())
	}
	sides, err := vectorsOf(ctx, cfg, collections, languages)
	if err != nil {
		return err
	}
	pairs, err := match.Match(ctx, sides[0], sides[1], o.match)
	if err != nil {
		return err
	}
	if o.out == "" {
		err = o.write(stdout, sides, pairs)
	} else {
		err = textfile.Write(o.out, func(f io.Writer) error { return o.write(f, sides, pairs) })
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%d pairs of %d and %d documents\n", len(pairs), len(collections[0].Documents),
		len(collections[1].Documents))
	if o.match.MinScore > 0 {
		if unrelated := match.Unrelated(sides[0], sides[1]); unrelated >= o.match.MinScore {
			fmt.Fprintf(stderr, "--min-score %g leaves out no pair: sentences that have nothing to do with each other have a "+
				"cosine of %.2f on average; give a higher one, or have the encoder's mean subtracted (mine model centre)\n",
				o.match.MinScore, unrelated)
		}
	}
	for field, counts := range match.CountFields([2][]match.Document{sides[0].Documents, sides[1].Documents}, pairs) {
		fmt.Fprintln(stderr, record.Field{Name: strings.Split(o.meta, ",")[field], FieldCounts: counts})
	}
	return nil
}

// write writes the pairs as TSV.
func (o *docsOptions) write(w io.Writer, sides [2]*match.Side, pairs []match.Pair) error {
	out := bufio.NewWriter(w)
	names := pairColumns
	if o.meta != "" {
		names = append(slices.Clone(names), "metadata")
	}
	fmt.Fprintln(out, strings.Join(names, "\t"))
	for _, p := range pairs {
		fmt.Fprintf(out, "%s\t%s\t%.4f\t%.4f\t%t", document.Escape(sides[0].Documents[p.Source].Name),
			document.Escape(sides[1].Documents[p.Target].Name), p.Score, p.BiMax, p.SameURL)
		if o.meta != "" {
			fmt.Fprintf(out, "\t%.4f", p.Metadata)
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

// vectorsOf encodes both collections, or reads the vectors that another program made of them.
func vectorsOf(ctx context.Context, cfg *pipeline.Config, collections [2]*document.Collection,
	languages [2]string) (sides [2]*match.Side, err error) {
	if cfg.HasVectors() {
		return givenVectors(cfg, collections)
	}
	m, e, err := program.OpenEncoder(cfg)
	if err != nil {
		return sides, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	pipeline.UnknownLanguages(slog.Default(), m, languages)
	for side, c := range collections {
		if sides[side], err = c.Side(ctx, e); err != nil {
			return sides, err
		}
	}
	return sides, nil
}

func givenVectors(cfg *pipeline.Config, collections [2]*document.Collection) (sides [2]*match.Side, err error) {
	for side, names := range [2][]string{cfg.SourceEmb, cfg.TargetEmb} {
		if len(names) != 1 {
			return sides, badinput.Errorf("mine docs: --src-emb and --tgt-emb name %d and %d files: give one for each "+
				"collection, and the collections before the flags",
				len(cfg.SourceEmb), len(cfg.TargetEmb))
		}
		file, err := embedding.OpenVectors(names[0], cfg.EmbDim, embedding.DType(cfg.EmbDType), "--emb-dim")
		if err != nil {
			return sides, err
		}
		raw := embedding.DType(cfg.EmbDType)
		if filepath.Ext(names[0]) == ".npy" {
			raw = ""
		}
		sides[side], err = collections[side].SideOf(file.Matrix, names[0], raw)
		if err = errors.Join(err, file.Close()); err != nil {
			return sides, err
		}
	}
	if sides[0].Dim != sides[1].Dim {
		return sides, badinput.Errorf("%s has rows of %d values, and %s of %d: give vectors that one encoder made",
			cfg.SourceEmb[0], sides[0].Dim, cfg.TargetEmb[0], sides[1].Dim)
	}
	return sides, nil
}

// pairColumns name the columns of mine docs.
var pairColumns = []string{"src_doc", "tgt_doc", "score", "bimax", "same_url"}
