package main

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/bitext"
	"bitextmine/cmd/mine/documents"
	"bitextmine/cmd/mine/evaluation"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/models"
	"bitextmine/cmd/mine/program"
	"bitextmine/cmd/mine/run"
	"bitextmine/cmd/mine/scorer"
	"bitextmine/cmd/mine/training"
	"bitextmine/internal/badinput"
)

func newRoot() *cobra.Command {
	var verbose bool
	root := &cobra.Command{
		Use:   "mine",
		Short: "Find translations in monolingual text",
		Long: `mine finds translations in two piles of monolingual text: it encodes every sentence, looks up nearest
neighbours in both directions, scores pairs by margin, and writes the best one-to-one pairs as Parquet.

Exit codes: 0 done; 1 failed and worth a retry; 2 failed for good (bad input, bad settings, a full disk);
3 another process works in the
output directory (a nightly run, a training, rounds).`,
		Version:       program.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          flags.NoArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRun: func(*cobra.Command, []string) {
			level := slog.LevelInfo
			if verbose {
				level = slog.LevelDebug
			}
			slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
		},
	}
	root.PersistentFlags().BoolVarP(&verbose, "verbose", "v", false, "log more")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return badinput.Errorf("%w; `%s --help` lists the flags", err, cmd.CommandPath())
	})
	eval := evaluation.NewEval()
	eval.AddCommand(documents.NewBeads(), documents.NewEvalDocs())
	root.AddCommand(
		run.NewRun(), run.NewPlan(), run.NewEncode(), run.NewNeighbours(), run.NewDoctor(), run.NewGPU(), run.NewTask(),
		run.NewStatus(), run.NewDiff(), run.NewGC(), run.NewConfig(),
		eval, evaluation.NewData(), evaluation.NewScore(), evaluation.NewExplain(),
		bitext.NewFilter(), bitext.NewExport(), bitext.NewSearch(), bitext.NewReject(), bitext.NewAccept(), bitext.NewServe(), bitext.NewReport(),
		scorer.NewCalibrate(), scorer.NewFitScorer(),
		models.NewModel(), documents.NewAlignDocs(), documents.NewSplit(), documents.NewDocs(),
		training.NewAlign(), training.NewTrain(), training.NewDistill(), training.NewRound(), newVersion(), newManual())
	return root
}
