package main

import (
	"fmt"
	"log/slog"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"bitextmine/cmd/mine/bitext"
	"bitextmine/cmd/mine/documents"
	"bitextmine/cmd/mine/encoders"
	"bitextmine/cmd/mine/evaluation"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/help"
	"bitextmine/cmd/mine/program"
	"bitextmine/cmd/mine/run"
	"bitextmine/cmd/mine/scorer"
	"bitextmine/internal/badinput"
)

func newRoot() *cobra.Command {
	var verbose bool
	root := &cobra.Command{
		Use:   "mine",
		Short: "Find translations in monolingual text",
		Long: `mine finds translations in two piles of monolingual text: it encodes every sentence, looks up nearest
neighbours in both directions, scores pairs by margin, and writes the best one-to-one pairs as Parquet.

Exit codes: 0 done; 1 failed and worth a retry; 2 failed for good (bad input, bad settings, a full disk); 3 another
process works in the output directory (a run, a training, rounds).`,
		Version:       program.Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          flags.NoArguments,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			level := slog.LevelInfo
			if verbose {
				level = slog.LevelDebug
			}
			slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
			return flags.CheckOutputs(cmd, args)
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
		bitext.NewFilter(), bitext.NewExport(), bitext.NewRest(), bitext.NewAlign())
	addGroup(root, "Scores", scorer.NewCalibrate(), scorer.NewFitScorer(), evaluation.NewScore(), evaluation.NewExplain())
	addGroup(root, "Documents", documents.NewSplit(), documents.NewSort(), documents.NewDocs(), documents.NewAlignDocs())
	addGroup(root, "Encoders", encoders.NewModel(), encoders.NewTrain(), encoders.NewDistill(), encoders.NewRound())
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

// addCompletion adds mine completion, which cobra would add later, so that its errors read like those of other
// commands.
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

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the commit it was built from and the Go version",
		Args:  flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			info, _ := debug.ReadBuildInfo()
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "mine", program.Describe(info))
			return err
		},
	}
}

// newManual makes mine manual, which packages are built with.
func newManual() *cobra.Command {
	return &cobra.Command{
		Use:    "manual DIR",
		Short:  "Write the manual pages of all commands into a directory, dated by SOURCE_DATE_EPOCH",
		Hidden: true,
		Args:   flags.Arguments("a directory", 1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
			if err != nil {
				return badinput.Errorf("mine manual: SOURCE_DATE_EPOCH must be the pages' date in seconds since 1970")
			}
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return fmt.Errorf("make the directory of manual pages: %w", err)
			}
			date := time.Unix(seconds, 0).UTC()
			root := cmd.Root()
			root.DisableAutoGenTag = true
			escape(root)
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Date: &date, Source: "mine " + program.Version,
				Manual: "mine"}, args[0])
		},
	}
}

// escape keeps what stands in angle brackets from being taken for HTML.
func escape(cmd *cobra.Command) {
	escaper := strings.NewReplacer("<", `\<`)
	cmd.Short, cmd.Long = escaper.Replace(cmd.Short), escaper.Replace(cmd.Long)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { f.Usage = escaper.Replace(f.Usage) })
	for _, child := range cmd.Commands() {
		escape(child)
	}
}
