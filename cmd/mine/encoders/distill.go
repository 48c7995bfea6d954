package encoders

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/corpus"
	"bitextmine/distil"
	"bitextmine/internal/badinput"
)

// NewDistill makes mine distill.
func NewDistill() *cobra.Command {
	var s flags.Settings
	o := distil.DefaultOptions()
	var texts, bitexts []string
	cmd := &cobra.Command{
		Use:   "distill",
		Short: "Make a fast static encoder of a slow one",
		Long: `Make a fast static encoder of a slow one: a table of subword vectors whose sum stands for what the teacher
computes of a whole sentence, fitted by least squares on text that the teacher encodes. What the teacher's graph does
after that, its head, is kept. With --epochs, table and head are then trained by gradient descent towards the
teacher's vector of each sentence, and with --bitext towards that of its translation. OUT/model is the encoder,
OUT/teacher has the teacher's vectors: a distillation that was broken off, or is repeated with other settings, encodes
no sentence twice. docs/encoders.md describes the method and what it costs in quality.`,
		Example: `  mine distill --teacher labse/model.yaml --text de=news.de --text en=news.en --out labse-static
  mine run --src de --tgt en --encoder labse-static/model`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, _, err := s.Load()
			if err != nil {
				return err
			}
			o.Library, o.Threads = cfg.ONNXRuntime, cfg.Threads
			return distilText(cmd, o, texts, bitexts)
		},
	}
	s.RegisterSome(cmd, flags.Declared("onnxruntime", "threads"))
	f := cmd.Flags()
	f.StringVar(&o.Teacher, "teacher", "", "the encoder to be distilled: a model.yaml, its directory, or a built-in encoder")
	f.StringArrayVar(&texts, "text", nil, "LANGUAGE=FILE, sentences of one language; may be repeated")
	f.StringArrayVar(&bitexts, "bitext", nil,
		"SOURCE-TARGET=FILE, pairs that are translations, as TSV, CSV, TMX, XLIFF, PO or JSON lines; may be repeated")
	f.StringSliceVar(&o.Languages, "languages", nil, "languages that the student is for (default: those of the text)")
	f.StringVar(&o.Out, "out", "", "directory of the distillation")
	f.StringVar(&o.Cache, "teacher-cache", "", "directory of the teacher's vectors (default OUT/teacher)")
	f.StringVar(&o.Name, "name", "", "the student's name (default: the teacher's and -static)")
	f.StringVar(&o.Licence, "licence", "", "the student's licence (default: the teacher's)")
	f.StringSliceVar(&o.TrainedOn, "trained-on", nil,
		"names of files that the text came from: mine fit-scorer warns of known pairs from them")
	f.StringVar(&o.Features, "features", "",
		"the tensor of the teacher's graph that the sums stand for (default: the first with one row a sentence)")
	f.IntVar(&o.Sample, "sample", o.Sample, "most sentences to fit on, drawn evenly; 0: all")
	f.IntVar(&o.Invent, "invent", o.Invent, "show each piece to the teacher at least this often, in invented "+
		"sentences if the text has it less; 0: invent none")
	f.IntVar(&o.Pieces, "pieces", o.Pieces, "pieces of the teacher's vocabulary to keep; 0: all")
	f.IntVar(&o.Merges, "merges", o.Merges, "pieces to add for words and parts of words that the teacher cuts, the most "+
		"frequent of the text; 0: none")
	f.IntVar(&o.Rank, "rank", o.Rank, "columns of the table; 0: as many as the teacher's features have")
	f.IntVar(&o.Bits, "bits", o.Bits, "bits of each of the table's numbers: 4 or 8")
	f.IntVar(&o.Steps, "steps", o.Steps, "steps of the least squares")
	f.Float64Var(&o.Share, "share", o.Share, "share, 0 to 1, of each piece's own correction that is added to the linear "+
		"map of pieces; less than 1 is better on text of other kinds")
	f.Uint64Var(&o.Seed, "seed", o.Seed, "seed of the invented sentences and of the gradient descent")
	f.StringVar(&o.Beside, "beside", "", "a second encoder to imitate, a bag of mine train in "+
		"further columns")
	f.IntVar(&o.BesideColumns, "beside-columns", o.BesideColumns, "columns for the encoder of --beside")
	f.Float64Var(&o.BesideShare, "beside-share", o.BesideShare,
		"share of the encoder of --beside in the square of a vector's length")
	f.Float64Var(&o.Epochs, "epochs", o.Epochs,
		"passes of gradient descent over the text and the bitext after the least squares; 0: none")
	flags.Filled.Mark(f, "out", "teacher-cache")
	return program.GoesOn(cmd)
}

// distilTexts reads what --text names.
func distilTexts(all []string) ([]distil.Text, error) {
	var texts []distil.Text
	for _, flag := range all {
		language, path, err := flags.LanguageFile(flag)
		if err != nil {
			return nil, err
		}
		texts = append(texts, distil.Text{Language: language, Path: path})
	}
	return texts, nil
}

// distilText distils on text and bitext that are given as LANGUAGE=FILE.
func distilText(cmd *cobra.Command, o distil.Options, texts, bitexts []string) (err error) {
	if o.Texts, err = distilTexts(texts); err != nil {
		return err
	}
	if o.Bitexts, err = distilBitexts(bitexts); err != nil {
		return err
	}
	for i, code := range o.Languages {
		if o.Languages[i], err = corpus.ParseLanguage(code); err != nil {
			return badinput.Errorf("--languages %s: %w", code, err)
		}
	}
	return runDistill(cmd.Context(), o, cmd.OutOrStdout())
}

// distilBitexts reads SOURCE-TARGET=FILE.
func distilBitexts(all []string) ([]distil.Bitext, error) {
	var bitexts []distil.Bitext
	for _, flag := range all {
		languages, path, ok := strings.Cut(flag, "=")
		source, target, pair := strings.Cut(languages, "-")
		if !ok || !pair || source == "" || target == "" || path == "" {
			return nil, badinput.Errorf("--bitext %q is not SOURCE-TARGET=FILE, such as de-en=pairs.tsv", flag)
		}
		codes, err := flags.Languages(source, target)
		if err != nil {
			return nil, badinput.Errorf("--bitext %s: %w", flag, err)
		}
		bitexts = append(bitexts, distil.Bitext{Source: codes[0], Target: codes[1], Path: path})
	}
	return bitexts, nil
}

func runDistill(ctx context.Context, o distil.Options, out io.Writer) error {
	start := time.Now()
	o.Report = func(what string) {
		fmt.Fprintf(program.Output(os.Stderr), "%6.0fs %s\n", time.Since(start).Seconds(), what)
	}
	last := start
	o.Progress = func(what string, done, all int) {
		if now := time.Now(); done == all || now.Sub(last) > 10*time.Second {
			last = now
			fmt.Fprintf(program.Output(os.Stderr), "%6.0fs %d of %d %s\n", now.Sub(start).Seconds(), done, all, what)
		}
	}
	s, err := distil.Run(ctx, o)
	if err != nil {
		return err
	}
	return s.Print(out)
}
