package main

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/bitext"
	"bitextmine/cmd/mine/documents"
	"bitextmine/cmd/mine/evaluation"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/help"
	"bitextmine/cmd/mine/models"
	"bitextmine/cmd/mine/program"
	"bitextmine/cmd/mine/run"
	"bitextmine/cmd/mine/scorer"
	"bitextmine/cmd/mine/training"
)

func newRoot() *cobra.Command {
	var verbose bool
	root := &cobra.Command{
		Use:   "mine",
		Short: "Find translations in monolingual text",
		Long: `mine finds translations in two piles of monolingual text: it encodes every sentence, looks up nearest
neighbours in both directions, scores pairs by margin, and writes the best one-to-one pairs as Parquet.

Exit codes: 0 done; 1 failed and worth a retry; 2 failed for good (bad input, bad settings, a full disk); 3 another
process works in the output directory (a nightly run, a training, rounds).`,
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
	root.SetOut(program.Output(os.Stdout))
	root.SetErr(program.Output(os.Stderr))
	root.PersistentFlags().BoolVarP(&verbose, "verbose", "v", false, "log more")
	root.SetFlagErrorFunc(flags.WrongFlag)
	eval := evaluation.NewEval()
	eval.AddCommand(documents.NewBeads(), documents.NewEvalDocs())
	addGroup(root, "Runs", run.NewRun(), run.NewPlan(), run.NewStatus(), run.NewDiff(), run.NewConfig(),
		run.NewDoctor(), run.NewGPU(),
		run.NewGC(), run.NewEncode(), run.NewNeighbours(), run.NewTask())
	addGroup(root, "Bitext", bitext.NewSearch(), bitext.NewReport(), bitext.NewServe(),
		bitext.NewAccept(), bitext.NewReject(),
		bitext.NewFilter(), bitext.NewExport(), training.NewAlign())
	addGroup(root, "Scores", scorer.NewCalibrate(), scorer.NewFitScorer(), evaluation.NewScore(), evaluation.NewExplain())
	addGroup(root, "Documents", documents.NewSplit(), documents.NewSort(), documents.NewDocs(), documents.NewAlignDocs())
	addGroup(root, "Encoders", models.NewModel(), training.NewTrain(), training.NewDistill(), training.NewRound())
	addGroup(root, "Evaluation", eval, evaluation.NewData())
	root.AddCommand(newVersion(), newManual())
	addCompletion(root)
	help.Install(root)
	return root
}

// addGroup adds commands under a title of the help.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
	}
	root.AddCommand(commands...)
}

// addCompletion adds mine completion, which cobra would add later, so that its errors are those of other commands.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args, c.RunE = flags.NoArguments, func(c *cobra.Command, _ []string) error { return c.Help() }
		for _, shell := range c.Commands() {
			shell.Args = flags.NoArguments
		}
	}
}
