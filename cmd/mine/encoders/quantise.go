package encoders

import (
	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/internal/badinput"
	"bitextmine/model/rewrite"
)

// newQuantise makes mine model quantise.
func newQuantise() *cobra.Command {
	var s flags.Settings
	var o rewrite.QuantiseOptions
	cmd := &cobra.Command{
		Use:   "quantise MODEL",
		Short: "Write an encoder again in 8 bits, which is smaller and faster",
		Long: `Write an encoder again with the weights of its products, convolutions and table of words in 8 bits, and with
products of 8-bit numbers. Scales are those of one row or one sentence, so a vector still depends on its sentence
alone and batches stay whole. The command compares both encoders on sentences that the program has and says what was
lost and won; the encoder that is quantised stays as it is. docs/encoders.md has figures.`,
		Example: `  mine model quantise multilingual-e5-small --out multilingual-e5-small-int8`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return badinput.Errorf("mine model quantise: name one encoder, its model.yaml or its directory")
			}
			cfg, _, err := s.Load()
			if err != nil {
				return err
			}
			o.Model, o.Encode = args[0], cfg.EncoderOptions()
			r, err := rewrite.Quantise(cmd.Context(), o)
			if err != nil {
				return err
			}
			return r.Print(cmd.OutOrStdout())
		},
	}
	s.RegisterSome(cmd, flags.Declared("onnxruntime", "threads"))
	f := cmd.Flags()
	f.StringVar(&o.Out, "out", "", "directory of the new encoder")
	f.StringVar(&o.Name, "name", "", "the new encoder's name (default: the old one's and -int8)")
	return cmd
}
