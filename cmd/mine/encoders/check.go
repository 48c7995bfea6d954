package encoders

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/encode/model"
	"bitextmine/internal/badinput"
	"bitextmine/model/check"
	"bitextmine/pipeline"
	"bitextmine/pipeline/config"
)

// newCheck makes mine model check.
func newCheck() *cobra.Command {
	var s flags.Settings
	o := check.Options{MinCosine: 0.999, Measure: 2 * time.Second}
	golden := ""
	cmd := &cobra.Command{
		Use:   "check MODEL",
		Short: "Try an encoder: scripts, lengths, translations, batches, golden vectors, speed",
		Long: `Try an encoder on the same three sentences in 20 languages: how many tokens are unknown, whether vectors have
length 1, whether a sentence is nearer to its English translation than to the other English sentences, whether a
vector depends on the other sentences of its batch, and how many sentences a second it encodes. --golden names vectors
that the encoder's own program computed, as JSON lines with language, text and vector. An encoder that fails ends with
exit code 2.`,
		Example: `  mine model check labse
  mine model check labse/model.yaml --golden labse.jsonl`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return badinput.Errorf("mine model check: name one encoder, its model.yaml or its directory")
			}
			cfg, _, err := s.Load()
			if err != nil {
				return err
			}
			return runCheck(cmd.Context(), cfg, args[0], golden, o, cmd.OutOrStdout())
		},
	}
	s.RegisterSome(cmd, flags.Declared("onnxruntime", "threads", "device"))
	f := cmd.Flags()
	f.StringVar(&golden, "golden", "", "JSON lines with language, text and vector")
	f.Float64Var(&o.MinCosine, "least", o.MinCosine, "cosine to each golden vector, at least")
	flags.DurationVar(f, &o.Measure, "seconds", o.Measure, "how long the speed is measured; 0s: not at all")
	return cmd
}

func runCheck(ctx context.Context, cfg *pipeline.Config, ref, golden string, o check.Options, out io.Writer) error {
	m, err := model.Load(ref)
	if err != nil {
		return err
	}
	if o.Encode, err = config.OptionsOf(cfg, m); err != nil {
		return err
	}
	if golden != "" {
		if o.Golden, err = readGolden(golden); err != nil {
			return err
		}
	}
	r, err := check.Run(ctx, m, o)
	if err != nil {
		return err
	}
	return errors.Join(r.Print(out), r.Err())
}

// readGolden reads golden vectors.
func readGolden(path string) (all []check.Golden, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, badinput.Errorf("--golden: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	lines := json.NewDecoder(bufio.NewReader(f))
	for {
		var g check.Golden
		switch err := lines.Decode(&g); {
		case errors.Is(err, io.EOF) && len(all) == 0:
			return nil, badinput.Errorf("%s has no golden vectors: each line is {\"language\": ..., \"text\": ..., "+
				"\"vector\": [...]}", path)
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, badinput.Errorf("%s: golden vector %d is no JSON object of language, text and vector: %w",
				path, len(all)+1, err)
		case g.Text == "" || len(g.Vector) == 0:
			return nil, badinput.Errorf("%s: golden vector %d lacks its text or its vector: correct it", path, len(all)+1)
		}
		all = append(all, g)
	}
}
