package encoders

import (
	"context"
	"io"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"bitextmine/bitext/exchange"
	"bitextmine/cmd/mine/flags"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/encode"
	"bitextmine/internal/badinput"
	"bitextmine/model/rewrite"
	"bitextmine/pipeline/progress"
)

// newCentre makes mine model centre.
func newCentre() *cobra.Command {
	var s flags.Settings
	var texts []string
	most, own := 5000, false
	cmd := &cobra.Command{
		Use:   "centre MODEL",
		Short: "Have an encoder's mean vector subtracted from all its vectors",
		Long: `Compute the mean of an encoder's vectors and name it in its manifest, which then has it subtracted from every
vector before the vector is given length 1. That serves encoders whose vectors share a direction, so that sentences
which have nothing to do with each other have a cosine of 0.7 or more. The mean is that of --text, every language
weighing the same; without --text, of sentences in fifteen languages that the program has. With --per-language each of
these languages has its own mean subtracted, and any other language that of all.`,
		Example: `  mine model centre multilingual-e5-small --per-language
  mine model centre labse/model.yaml --text de=news.de --text en=news.en`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return badinput.Errorf("mine model centre: name one encoder, its model.yaml or its directory")
			}
			cfg, _, err := s.Load()
			if err != nil {
				return err
			}
			return runCentre(cmd.Context(), args[0], texts, most, own, cfg.EncoderOptions(), cmd.OutOrStdout())
		},
	}
	s.RegisterSome(cmd, flags.Declared("onnxruntime", "threads"))
	f := cmd.Flags()
	f.StringArrayVar(&texts, "text", nil, "LANGUAGE=FILE, sentences of one language; may be repeated")
	f.BoolVar(&own, "per-language", false, "subtract from each language's vectors their own mean")
	f.IntVar(&most, "sentences", most, "sentences that are taken of each file, from its beginning")
	return cmd
}

func runCentre(ctx context.Context, ref string, files []string, most int, own bool, o encode.Options,
	out io.Writer) error {
	var texts []rewrite.Text
	var counts []int // the most sentences of each
	for _, flag := range files {
		language, path, err := flags.LanguageFile(flag)
		if err != nil {
			return err
		}
		texts, counts = append(texts, rewrite.Text{Language: language, Sentences: first(path, most)}), append(counts, most)
	}
	if texts == nil {
		languages, sentences, err := exchange.FixtureText()
		if err != nil {
			return err
		}
		for i, language := range languages {
			texts = append(texts, rewrite.Text{Language: language, Optional: true, Sentences: func(yield func(string, error) bool) {
				for _, text := range sentences[i] {
					if !yield(text, nil) {
						return
					}
				}
			}})
			counts = append(counts, len(sentences[i]))
		}
	}
	total := 0
	for _, n := range counts {
		total += n
	}
	meter := progress.New(os.Stderr).Start("centre", int64(total), "sentences")
	for i := range texts {
		texts[i].Sentences = counted(texts[i].Sentences, counts[i], meter)
	}
	r, err := rewrite.Centre(ctx, ref, texts, own, o)
	meter.Done()
	if err != nil {
		return err
	}
	return r.Print(out)
}

// counted counts the sentences of a text that has at most so many, as they are taken.
func counted(sentences iter.Seq2[string, error], most int, meter progress.Meter) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		n := 0
		for sentence, err := range sentences {
			if !yield(sentence, err) {
				return
			}
			n++
			meter.Add(1)
		}
		meter.Skip(int64(most - n))
	}
}

// first are the first sentences of a file.
func first(path string, most int) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		n, opts := 0, corpus.DefaultOptions()
		opts.ColumnFlags = corpus.NoFlags
		for sentence, err := range corpus.Sentences(input.File{Path: path}, opts) {
			if n++; n > most || !yield(sentence.Normal, err) {
				return
			}
		}
	}
}
