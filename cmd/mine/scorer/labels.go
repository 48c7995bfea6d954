package scorer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"text/tabwriter"

	"bitextmine/cmd/mine/program"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/scorer"
	"bitextmine/pipeline/setting"
	"bitextmine/pipeline/view"
	"bitextmine/score/calibration"
)

// withRun opens the finished run whose labels are read. cfg has the threads and libraries to use.
func withRun(ctx context.Context, dir string, cfg *pipeline.Config, do func(*view.Run) error) (err error) {
	if err := cfg.Resolve(); err != nil {
		return err
	}
	run, err := view.Open(ctx, dir, program.Version, slog.Default())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	return do(run)
}

// warnUnused warns of labels that do not match any pair of the run.
func warnUnused(c scorer.Count, run string) {
	if missing := c.Labels - c.Present; missing > 0 {
		slog.Warn(fmt.Sprintf("%d of the %d labels name pairs of sentences that the run in %s does not have; they are "+
			"left out", missing, c.Labels, run))
	}
	if apart := c.Present - c.Used; apart > 0 {
		slog.Warn(fmt.Sprintf("%d of the %d labels are on pairs that the run in %s did not find or match; they are left "+
			"out", apart, c.Labels, run))
	}
}

// besideLabels are the flags that mine calibrate --labels has a use for. All others are settings that the run has.
var besideLabels = strings.Fields("labels for-precision write onnxruntime threads verbose")

// calibrateByLabels shows precision by band of score, as people's labels on a finished run tell it.
func calibrateByLabels(ctx context.Context, o *calibrateOptions, cfg *pipeline.Config, out io.Writer) error {
	for _, flag := range o.Given() {
		if !slices.Contains(besideLabels, flag) {
			return badinput.Errorf("mine calibrate: --%s says nothing of labels, which are of a run with its own settings: "+
				"remove it, or remove --labels", flag)
		}
	}
	var scores *scorer.Scores
	var of *setting.Decision // nil: a scorer decides
	err := withRun(ctx, o.labels, cfg, func(run *view.Run) (err error) {
		scores, err = scorer.ReadScores(ctx, run, cfg.EncoderOptions())
		if err == nil && !scores.Scorer {
			of = &run.Plan.Settings.Decision
		}
		return err
	})
	if err != nil {
		return err
	}
	warnUnused(scores.Count, o.labels)
	bands := calibration.Bands(scores.Labels, scores.Matched)
	if err := printBands(out, scores, bands); err != nil {
		return err
	}
	if o.precision == 0 {
		return nil
	}
	chosen, ok := calibration.BandForPrecision(bands, o.precision)
	if !ok {
		return badinput.Errorf("mine calibrate: no band of scores is estimated to give a precision of %g: ask for less, "+
			"or label more pairs", o.precision)
	}
	fmt.Fprintf(out, "\nthreshold %.6f: %d pairs kept, precision %s\n", chosen.Low, chosen.Kept, shown(chosen.Above))
	if o.write != "" {
		return writeThreshold(o.write, chosen.Low, of)
	}
	return nil
}

func printBands(out io.Writer, s *scorer.Scores, bands []calibration.Band) error {
	name := "margin"
	if s.Scorer {
		name = "probability"
	}
	fmt.Fprintf(out, "%d labels on %d pairs that the run matched; precision with 95%% Wilson intervals\n\n",
		len(s.Labels), len(s.Matched))
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%s\tpairs\tlabelled\taccepted\tprecision\tpairs from here up\ttheir precision\t\n", name)
	for i, b := range bands {
		end := "up"
		if i+1 < len(bands) {
			end = fmt.Sprintf("%.4f", bands[i+1].Low)
		}
		fmt.Fprintf(table, "%.4f-%s\t%d\t%d\t%d\t%s\t%d\t%s\t\n", b.Low, end, b.Pairs, b.Labelled, b.Accepted,
			shown(b.Precision), b.Kept, shown(b.Above))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if below := len(s.Matched) - bands[0].Kept; below > 0 {
		fmt.Fprintf(out, "\n%d pairs score below all labels: nothing is known of them\n", below)
	}
	return nil
}
