package encoders

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/index/exact"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline/record"
	"bitextmine/train"
)

// trainOptions are the flags of mine train.
type trainOptions struct {
	flags.Settings
	preset string
	bitext []string
	out    string
	device string
	cache  string
	resume bool
}

// NewTrain makes mine train.
func NewTrain() *cobra.Command {
	var o trainOptions
	cmd := &cobra.Command{
		Use:   "train",
		Short: "Train an encoder on bitext and export it for mining",
		Long: `Train an encoder on bitext, mined or given, evaluate it during training with the protocols of mine eval, and
export the best checkpoint to OUT/model, for use with --encoder OUT/model. docs/training.md describes the preset, the
files in OUT and the objectives.`,
		Example: `  mine train --config configs/train/contrastive.yaml --bitext bitext.parquet --out trained
  mine train --config configs/train/contrastive.yaml --out trained --resume
  mine run --src de --tgt en --src-text a.de --tgt-text a.en --encoder trained/model`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runTrain(cmd.Context(), o, cmd.OutOrStdout())
		},
	}
	o.RegisterSome(cmd, flags.Declared("onnxruntime", "threads"))
	f := cmd.Flags()
	f.StringVar(&o.preset, "config", "", "the training preset, a YAML file")
	f.StringArrayVar(&o.bitext, "bitext", nil,
		"bitext instead of the preset's sources: Parquet files or directories of mine run; may be repeated")
	f.StringVar(&o.out, "out", "", "directory of the training")
	f.StringVar(&o.device, "device", "cpu", "cpu, cuda, xla:PLUGIN (a PJRT plugin's file), or go (GoMLX's own, slow)")
	f.StringVar(&o.cache, "teacher-cache", "",
		"directory of the teacher's vectors, which several trainings may share, one after another (default OUT/teacher)")
	f.BoolVar(&o.resume, "resume", false, "continue from the last checkpoint in --out")
	return cmd
}

func runTrain(ctx context.Context, o trainOptions, out io.Writer) error {
	if o.preset == "" || o.out == "" {
		return badinput.Errorf("mine train needs --config and --out: name a preset and a directory")
	}
	bitext := slices.Clone(o.bitext)
	for i, path := range bitext { // what is no run's stays as it is
		if file, err := record.BitextAt(path); err == nil {
			bitext[i] = file
		}
	}
	config, err := readPreset(o.preset, bitext)
	if err != nil {
		return err
	}
	if o.cache != "" && config.Objective.Needs().Teacher == "" {
		return badinput.Errorf("--teacher-cache is for a teacher's vectors, and the objective %s of %s has no teacher: leave it out",
			config.Objective.Name, o.preset)
	}
	cfg, _, err := o.Load()
	if err != nil {
		return err
	}
	search, err := exact.Open(exact.Options{Threads: cfg.Threads})
	if err != nil {
		return err
	}
	console := train.NewConsole(os.Stderr, term.IsTerminal(int(os.Stderr.Fd())))
	summary, err := train.Run(ctx, config, train.Options{Out: o.out, Preset: o.preset, Device: o.device, Library: cfg.ONNXRuntime,
		Resume: o.resume, Teacher: o.cache,
		Searcher: search, Report: console.Report, Progress: console.Progress})
	console.Close()
	if errors.Is(err, context.Canceled) {
		return program.StoppedBut(err, afterStop(o.out))
	}
	if badinput.IsDiskFull(err) {
		return badinput.Errorf("%w, with --resume if there is a checkpoint in it", err)
	}
	if err != nil {
		return err
	}
	for _, f := range summary.Stats.Files {
		fmt.Fprintf(out, "read       %s: %s\n", f.Path, f)
	}
	if n := summary.Stats.Blank; n > 0 {
		fmt.Fprintf(out, "left out   %d kept pairs, of which the tokenizer leaves nothing of a side\n", n)
	}
	if summary.Stats.Words != nil {
		fmt.Fprintf(out, "words      %s\n", summary.Stats.Words)
	}
	if summary.Reason != "" {
		fmt.Fprintf(out, "stopped    %s\n", summary.Reason)
	}
	fmt.Fprintf(out, "trained    %d steps; step %d is the encoder in %s\n", summary.Steps, summary.Best, summary.Model)
	for _, name := range slices.Sorted(maps.Keys(summary.Dev)) {
		fmt.Fprintf(out, "%-10s %.2f\n", name, summary.Dev[name])
	}
	return nil
}

// readPreset reads a training preset, and names a config of mine run as such.
func readPreset(path string, bitext []string) (train.Config, error) {
	c, err := train.ReadConfig(path, bitext...)
	if err != nil && flags.OfRun(path) {
		return c, badinput.Errorf("%s has settings of mine run, not of a training: name a training preset, such as one of configs/train", path)
	}
	return c, err
}

// afterStop says how a training that was stopped goes on.
func afterStop(out string) string {
	if step := train.LastStep(out); step > 0 {
		return fmt.Sprintf("with --resume the same command goes on from the checkpoint of step %d", step)
	}
	return "there is no checkpoint yet, so the same command begins again"
}
