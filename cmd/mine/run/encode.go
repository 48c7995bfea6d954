package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/corpus"
	"bitextmine/corpus/input"
	"bitextmine/corpus/surface"
	"bitextmine/encode"
	"bitextmine/encode/embedding"
	"bitextmine/encode/model"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/config"
)

// encodeOptions are the flags of mine encode.
type encodeOptions struct {
	language string
	out      string
	dtype    string
	raw      bool
}

// NewEncode makes mine encode.
func NewEncode() *cobra.Command {
	var s flags.Settings
	var o encodeOptions
	cmd := &cobra.Command{
		Use:   "encode FILE...",
		Short: "Write the vectors of sentences",
		Long: `Write the vectors of sentences: one row of the output for every line or record of the files, in their order, so that
other programs can pair them. Files are as for mine run; of subtitles a text of a cue is a record. A record without
text is encoded as an unknown word, and counted; one that is malformed, no UTF-8 or too long is refused. OUT.npy is
NumPy's format, with a .json beside it; --raw writes the numbers alone, as LASER's programs do.`,
		Example: `  mine encode --lang de news.de.gz --out news.de.npy
  mine encode --lang en --encoder labse/model.yaml --raw news.en --out news.en.f32`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cfg, _, err := s.Load()
			if err != nil {
				return err
			}
			return encodeFiles(cmd.Context(), cfg, o, args, cmd.OutOrStdout())
		},
	}
	s.RegisterSome(cmd, flags.Declared("encoder", "onnxruntime", "threads", "device", "format", "text_column", "encoding",
		"max_line_bytes"))
	f := cmd.Flags()
	f.StringVar(&o.language, "lang", "", "language of the sentences: it chooses the encoder's prefix")
	f.StringVar(&o.out, "out", "", "file of the vectors: its name ends in .npy unless --raw is given")
	f.StringVar(&o.dtype, "dtype", string(embedding.Float32), "number type: float32 or float16")
	f.BoolVar(&o.raw, "raw", false, "write the rows without a header")
	flags.Replaced.Mark(f, "out")
	return cmd
}

// check refuses what cannot be meant, and gives the language its canonical name.
func (o *encodeOptions) check(args []string) error {
	dtype := embedding.DType(o.dtype)
	switch {
	case len(args) == 0:
		return badinput.Errorf("no file: name one or more files of sentences")
	case o.language == "":
		return badinput.Errorf("--lang is missing: name the sentences' language, such as de")
	case o.out == "":
		return badinput.Errorf("--out is missing: name the file of the vectors")
	case dtype != embedding.Float32 && dtype != embedding.Float16:
		return badinput.Errorf("--dtype %s: give float32 or float16", o.dtype)
	case o.raw && dtype != embedding.Float32:
		return badinput.Errorf("--raw is float32: leave out --dtype, or --raw")
	case o.raw && strings.HasSuffix(o.out, ".npy"):
		return badinput.Errorf("--raw writes rows without NumPy's header: give --out another ending than .npy")
	case !o.raw && !strings.HasSuffix(o.out, ".npy"):
		return badinput.Errorf("--out %s: the name must end in .npy, or give --raw", o.out)
	case !o.raw && atomicfile.IsStream(o.out):
		return badinput.Errorf("--out %s is a pipe or a device, whose head would have to be written last: give --raw", o.out)
	}
	var err error
	o.language, err = corpus.ParseLanguage(o.language)
	return err
}

// refuseBeside refuses vectors whose .json would replace a file that is read, or another program's.
func (o *encodeOptions) refuseBeside(files []input.File) error {
	if o.raw {
		return nil
	}
	for _, file := range files {
		if err := atomicfile.RefuseInput(embedding.MetaPath(o.out), file.Path); err != nil {
			return badinput.Errorf("--out %s has a .json beside it: %w", o.out, err)
		}
	}
	return embedding.RefuseOther(o.out)
}

// encodeFiles opens the encoder and writes one row a record.
func encodeFiles(ctx context.Context, cfg *pipeline.Config, o encodeOptions, paths []string,
	out io.Writer) (err error) {
	if err := o.check(paths); err != nil {
		return err
	}
	var files []input.File
	for _, path := range paths { // each by itself, as rows are in the order of the arguments
		found, err := input.Expand(nil, []string{path})
		if err != nil {
			return err
		}
		files = append(files, found...)
	}
	if err := o.refuseBeside(files); err != nil {
		return err
	}
	m, err := model.Load(cfg.Encoder)
	if err != nil {
		return err
	}
	if !corpus.Lists(m.Languages, o.language) {
		slog.Warn("the encoder's manifest does not list the language", "encoder", m.Name, "language", o.language)
	}
	options, err := config.OptionsOf(cfg, m)
	if err != nil {
		return err
	}
	e, err := encode.Open(m, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	empty := 0
	rows, err := o.write(ctx, e, textsOf(files, reading(cfg), o.language, &empty))
	if err != nil {
		return err
	}
	if empty > 0 {
		slog.Warn("lines are empty: their rows are the vector of an unknown word", "lines", empty)
	}
	_, err = fmt.Fprintf(program.Told(out, o.out), "%s  %d rows of %d numbers by %s\n", o.out, rows, e.Dim(), m.Name)
	return err
}

// write publishes the vectors, whole or not at all.
func (o *encodeOptions) write(ctx context.Context, e *encode.Encoder, lines iter.Seq2[string, error]) (int, error) {
	fill := func(w *embedding.Writer) error {
		_, err := e.Stream(ctx, o.language, lines, w.Append)
		return err
	}
	if o.raw {
		return embedding.WriteRaw(o.out, e.Dim(), fill)
	}
	meta, err := embedding.Write(o.out, embedding.Meta{Encoder: e.Digest(), Dim: e.Dim(),
		DType: embedding.DType(o.dtype)}, fill)
	return meta.N, err
}

// reading is how mine run reads text of one language, with a row for every record.
func reading(cfg *pipeline.Config) corpus.Options {
	o := cfg.CorpusOptions()[0]
	o.OnBadLine, o.KeepEmpty, o.ColumnFlags = corpus.FailBadLine, true, corpus.OwnFlags
	return o
}

// textsOf yields the text of every record as a run encodes it, and counts empty ones.
func textsOf(files []input.File, o corpus.Options, language string, empty *int) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, file := range files {
			if !yieldTexts(file, o, language, empty, yield) {
				return
			}
		}
	}
}

// yieldTexts yields one file's texts; false ends the sequence.
func yieldTexts(file input.File, o corpus.Options, language string, empty *int, yield func(string, error) bool) bool {
	r, err := corpus.Open(file, o)
	if err != nil {
		yield("", err)
		return false
	}
	defer func() { _ = r.Close() }() // it is only read
	if r.Format().Pages() {
		yield("", badinput.Errorf("%s is %s, whose records are documents: encode the sentences that mine split writes, or read it as text with --format text",
			file, r.Format()))
		return false
	}
	for s, err := range r.All() {
		if err == nil && s.Normal == "" {
			*empty++
		}
		calm, _ := surface.Calm(s.Normal, language)
		if !yield(calm, err) || err != nil {
			return false
		}
	}
	if warning := r.Counts().TabsWarning(file.Path); warning != "" {
		slog.Warn(warning)
	}
	return true
}
