package encoders

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/progress"
	"bitextmine/train"

	"bitextmine/train/round"
)

// roundOptions are the flags of mine round in addition to those of mine run.
type roundOptions struct {
	flags.Settings
	preset      string
	device      string
	withSources bool
	minScore    float64
	minProb     float64
	rounds      int
	metric      string
	patience    int
}

// NewRound makes mine round.
func NewRound() *cobra.Command {
	var o roundOptions
	cmd := &cobra.Command{
		Use:   "round",
		Short: "Mine, train on what was mined, and mine again with the new encoder",
		Long: `Mine with an encoder, train a new one on the bitext, and mine again with that, and so on until a round does
not raise the metric. The output is OUT/rounds.tsv and rounds.json, and each round's bitext and encoder in
OUT/round-K. After a stop, the same call continues. The flags of mine run say what is mined and how (what encodes:
MINE_DEVICE); docs/training.md describes the rest.`,
		Example: `  mine round --train configs/train/contrastive.yaml --rounds 3 --src de --tgt en \
      --src-text news.de.gz --tgt-text news.en.gz --min-prob 0.9 --out rounds`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := o.config(cmd)
			if err != nil {
				return err
			}
			return o.run(cmd.Context(), c, cmd.OutOrStdout())
		},
	}
	o.Register(cmd, "device") // here it is the device of the training
	f := cmd.Flags()
	f.StringVar(&o.preset, "train", "", "the training preset, a YAML file")
	f.StringVar(&o.device, "device", "cpu", "device of the training: cpu, cuda, xla:PLUGIN, or go (GoMLX's own, slow)")
	f.BoolVar(&o.withSources, "with-sources", false, "also train on the preset's own sources")
	f.Float64Var(&o.minScore, "min-score", 0, "minimum margin of a mined pair to train on")
	f.Float64Var(&o.minProb, "min-prob", 0, "minimum probability of a mined pair to train on")
	f.IntVar(&o.rounds, "rounds", 3, "maximum number of rounds")
	f.StringVar(&o.metric, "metric", "",
		"the dev figure that a round must raise (default: the preset's stop.metric; without any, all rounds are made)")
	f.IntVar(&o.patience, "patience", 1, "stop after this many consecutive rounds that do not raise the metric")
	flags.Group("Rounds").AddFirst(f, "train", "device", "with-sources", "min-score", "min-prob", "rounds",
		"metric", "patience")
	return program.GoesOn(cmd)
}

// config combines both presets and the flags.
func (o *roundOptions) config(cmd *cobra.Command) (round.Config, error) {
	if o.preset == "" {
		return round.Config{}, badinput.Errorf("mine round needs --train: name a training preset")
	}
	mining, _, err := o.Load()
	if err != nil {
		return round.Config{}, err
	}
	switch {
	case o.Nightly:
		return round.Config{}, badinput.Errorf("mine round has no --nightly: its rounds follow each other at once")
	case mining.Gold != "":
		return round.Config{}, badinput.Errorf("mine round does not compare with known pairs: remove --gold and name dev " +
			"sets in the training preset")
	case mining.Work != "":
		return round.Config{}, badinput.Errorf("mine round stores intermediate files in OUT/work: remove --work")
	}
	o.WarnSample()
	c := round.Config{Mining: *mining, WithSources: o.withSources, Rounds: o.rounds, Metric: o.metric,
		Patience: o.patience}
	var bitext []string
	if !o.withSources { // these sources replace the preset's, which it then does not need
		bitext = []string{filepath.Join(mining.Out, "round-1", "mined")}
	}
	if c.Training, err = readPreset(o.preset, bitext); err != nil {
		return c, err
	}
	if c.Metric == "" {
		c.Metric = c.Training.Stop.Metric
	}
	if cmd.Flags().Changed("min-score") {
		c.MinScore = &o.minScore
	}
	if cmd.Flags().Changed("min-prob") {
		c.MinProb = &o.minProb
	}
	return c, nil
}

func (o *roundOptions) run(ctx context.Context, c round.Config, out io.Writer) error {
	searcher, err := exact.Open(exact.Options{Threads: c.Mining.Threads})
	if err != nil {
		return err
	}
	console := train.NewConsole(os.Stderr, term.IsTerminal(int(os.Stderr.Fd())))
	rounds, reason, err := round.Run(ctx, c, round.Options{
		Out:    c.Mining.Out,
		Mining: program.RunOptions(progress.New(os.Stderr)),
		Training: train.Options{Device: o.device, Library: c.Mining.ONNXRuntime, Searcher: searcher,
			Report: console.Report, Progress: console.Progress},
	})
	console.Close()
	if len(rounds) > 0 { // print also the rounds before an error
		if err := round.Print(out, rounds); err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	if reason != "" {
		fmt.Fprintf(out, "\nstopped: %s\n", reason)
	}
	best, what := round.Best(rounds, c.Metric), "best"
	if c.Metric == "" {
		what = "last"
	}
	_, err = fmt.Fprintf(out, "\nround %d is the %s; its encoder: %s\n", best.Round, what, best.Encoder)
	return err
}
