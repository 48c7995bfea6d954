package bitext

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"bitextmine/align/word"

	"bitextmine/bitext/exchange"
	"bitextmine/cmd/mine/flags"
	"bitextmine/internal/badinput"
	"bitextmine/internal/textfile"
	"bitextmine/pipeline/record"
)

// alignOptions are the flags of mine align.
type alignOptions struct {
	flags.Settings
	in                 word.FileInput
	words              word.FileAligner
	source, target     string
	splitter, symmetry string
	model              flags.Words
	out, tokens        string
}

// NewAlign makes mine align.
func NewAlign() *cobra.Command {
	o := alignOptions{words: word.DefaultFileAligner()}
	o.in.Exchange = exchange.DefaultOptions()
	cmd := &cobra.Command{
		Use:   "align [RUN | FILE.tsv | FILE.csv | FILE.tmx | FILE.xliff | FILE.jsonl | FILE.po | FILE.parquet]",
		Short: "Align the words of bitext",
		Long: `Align the words of sentence pairs without a dictionary: IBM model 2 with a diagonal prior
(fast_align's), estimated from the bitext itself in both directions, which are then combined. The output has a line
for each pair, row or unit, in Pharaoh's format: links i-j of source word i and target word j, counted from 0. A pair
with an empty side, or with one of more than 500 words, gets an empty line. The number of threads changes nothing,
nor does the order of the pairs without --encoder, which adds what the vectors of an encoder's inner layer say of each
two words; with --iterations 0 it aligns alone.

Words of plain text (--words text), which is normalised first, are runs of letters, marks and digits; every other
character but a space is a word of its own. In scripts without spaces (Han, kana, Thai, Lao, Khmer, Burmese, Tibetan)
each letter is a word. --words spaces splits only at spaces, for text that is tokenised, and normalises nothing. Upper
and lower case count as equal.`,
		Example: `  mine align mined/de-en.parquet --src de --tgt en --out de-en.pharaoh
  mine align --src-text a.de --tgt-text a.en --words spaces --symmetry intersect --scores --out a.pharaoh`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAlign(cmd.Context(), &o, args, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	o.RegisterSome(cmd, flags.Declared("threads", "onnxruntime"))
	f := cmd.Flags()
	f.StringVar(&o.source, "src", "", "source language, which a TMX needs")
	f.StringVar(&o.target, "tgt", "", "target language")
	f.StringVar(&o.in.Source, "src-text", "", "line-aligned source file, instead of FILE")
	f.StringVar(&o.in.Target, "tgt-text", "", "its line-aligned target file")
	f.StringVar(&o.in.Exchange.SourceColumn, "src-column", o.in.Exchange.SourceColumn,
		"source column, key of JSON; in TSV and CSV its number from 1, too")
	f.StringVar(&o.in.Exchange.TargetColumn, "tgt-column", o.in.Exchange.TargetColumn, "target column")
	f.StringVar(&o.splitter, "words", string(o.words.Splitter),
		"what words are: text, or spaces if they are separated by spaces")
	f.StringVar(&o.symmetry, "symmetry", string(o.words.Symmetry),
		"forward, backward, intersect, union, grow-diag, grow-diag-final-and; with --encoder also itermax")
	f.BoolVar(&o.words.Scores, "scores", false,
		"write each link's score, i-j:0.93: the mean of both directions' posterior probabilities")
	o.model.Register(cmd)
	f.StringVar(&o.out, "out", "", "file of links to write (default: standard output)")
	f.StringVar(&o.tokens, "tokens-out", "", "file for the words that the links count, as source ||| target")
	flags.Text.Mark(f, "out", "tokens-out")
	return cmd
}

// check resolves the flags that are not values of the settings themselves.
func (o *alignOptions) check(args []string) (err error) {
	pair := o.in.Source != "" || o.in.Target != ""
	switch {
	case pair && (o.in.Source == "" || o.in.Target == "" || len(args) > 0):
		return badinput.Errorf("mine align: give --src-text and --tgt-text together, or one file alone")
	case !pair && len(args) != 1:
		return badinput.Errorf("mine align: name a run, one .tsv, .csv, .tmx, .xliff, .jsonl, .po or .parquet file, or two line-aligned ones with " +
			"--src-text and --tgt-text")
	case !pair:
		o.in.File = args[0]
		if info, err := os.Stat(args[0]); err == nil && info.IsDir() {
			if o.in.File, err = record.BitextAt(args[0]); err != nil {
				return err
			}
		}
	}
	if !pair && exchange.FormatOf(o.in.File) == exchange.TMX && (o.source == "" || o.target == "") {
		return badinput.Errorf("mine align: name both languages of %s with --src and --tgt", o.in.File)
	}
	opts := &o.in.Exchange
	if opts.SourceAt, opts.TargetAt, err = flags.ColumnNumbers(opts.SourceColumn, opts.TargetColumn); err != nil {
		return err
	}
	opts.MustName = opts.SourceAt == 0 && (o.Changed("src-column") || o.Changed("tgt-column"))
	languages, err := flags.Languages(o.source, o.target)
	if err != nil {
		return err
	}
	o.in.Exchange.SourceLanguage, o.in.Exchange.TargetLanguage = languages[0], languages[1]
	if o.words.Splitter, err = word.ParseSplitter(o.splitter); err != nil {
		return err
	}
	o.words.Symmetry, err = word.ParseSymmetry(o.symmetry, o.model.Encoder())
	return err
}

func runAlign(ctx context.Context, o *alignOptions, args []string, stdout, stderr io.Writer) error {
	if err := o.check(args); err != nil {
		return err
	}
	cfg, _, err := o.Load()
	if err != nil {
		return err
	}
	if o.words.Model, err = o.model.Options("mine align", cfg, o.source, o.target); err != nil {
		return err
	}
	var sum word.FileSummary
	err = o.output(o.out, stdout, func(links io.Writer) error {
		return o.output(o.tokens, nil, func(tokens io.Writer) (err error) {
			sum, err = o.words.Write(ctx, o.in, links, tokens, func(p word.Progress) {
				slog.Debug("word alignment", "backward", p.Backward, "iteration", p.Iteration, "tension", p.Tension,
					"perplexity", p.Perplexity)
			})
			return err
		})
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "%d pairs, %d links; %d pairs without words or too long, %d without links\n", sum.Pairs,
		sum.Links, sum.Skipped, sum.Unlinked)
	return nil
}

// output gives write a file that is published whole, or the other writer if no file is named.
func (o *alignOptions) output(path string, other io.Writer, write func(io.Writer) error) error {
	if path == "" {
		if other == nil {
			return write(nil)
		}
		out := bufio.NewWriter(other)
		return errors.Join(write(out), out.Flush())
	}
	return textfile.Write(path, func(f io.Writer) error {
		out := bufio.NewWriter(f)
		return errors.Join(write(out), out.Flush())
	})
}
