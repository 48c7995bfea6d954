package main

import (
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

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
		Version:       version,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args:          noArguments,
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
	root.AddCommand(newRun(), newPlan(), newDoctor(), newTask(), newStatus(), newDiff(), newGC(), newConfig(),
		newEval(), newData(), newScore(), newExplain(), newCalibrate(), newFitScorer(), newTrain(), newDistill(), newRound(), newVersion())
	return root
}

// noArguments refuses words that no flag takes.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return badinput.Errorf("%q is no command or flag of %s; `%s --help` lists them", args[0], cmd.CommandPath(), cmd.CommandPath())
	}
	return nil
}

// listFlags take every word that follows them, so that a shell's expansion of `--src-text data/*.de` works.
var listFlags = []string{"--src-text", "--tgt-text"}

// gatherLists repeats a list flag before each of the words that follow it.
func gatherLists(args []string) []string {
	var out []string
	list := ""
	for i, arg := range args {
		switch {
		case arg == "--":
			return append(out, args[i:]...)
		case strings.HasPrefix(arg, "-"):
			list = ""
			for _, flag := range listFlags {
				if arg == flag {
					list = flag
				}
			}
			if list != "" && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				continue // each of its words brings the flag along
			}
			out = append(out, arg)
			// A flag of another kind takes its own word; it is not ours to tell which do, so pass both on.
		case list != "":
			out = append(out, list, arg)
		default:
			out = append(out, arg)
		}
	}
	return out
}
