// Package scorer has the commands that fit what decides between candidates, a threshold or a scorer, to a corpus.
package scorer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"bitextmine/bitext/exchange"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
	"bitextmine/internal/textfile"
	"bitextmine/internal/yamlbound"
	"bitextmine/mine"
	"bitextmine/pipeline"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/setting"
	"bitextmine/score"
	"bitextmine/score/calibration"
)

// calibrateOptions are the flags of mine calibrate other than those of a run.
type calibrateOptions struct {
	flags.Settings
	pairs     string
	precision float64
	resamples int
	write     string
	curve     string
	labels    string
}

// unread are the settings of a run that nothing here reads: those of its decision, and of many pairs.
var unread = append([]string{"scorer", "threshold", "precision", "cut", "features", "refit"}, flags.Keys[setting.Many]()...)

// NewCalibrate makes mine calibrate.
func NewCalibrate() *cobra.Command {
	var o calibrateOptions
	cmd := &cobra.Command{
		Use:   "calibrate",
		Short: "Choose a threshold without gold",
		Long: `Choose a threshold for your text without gold. Known pairs (--pairs, source<TAB>target a line; by default
those of the program, which it has of fifteen languages) are injected among your sentences and mined with them: how many
are found gives recall, what happens to sources whose partner was withheld gives precision, with 95% bootstrap
intervals. The corpora are cut, encoded and searched as by mine run, whose intermediate files serve both ways; the
injected sentences are in no bitext. The estimate is as good as the known pairs are like your text. The threshold is
the margin's: a run that is to use it takes no scorer (--scorer none).

--labels RUN takes, in place of known pairs, what people decided on the pairs of a finished run (mine reject, mine
accept): precision by band of the score that decides there, a probability or a margin. Label pairs of every band as
they come, not only those that look wrong.`,
		Example: `  mine calibrate --src de --tgt en --src-text a.de --tgt-text a.en --pairs known.tsv
  mine calibrate --labels mined --for-precision 0.95
  mine calibrate --nightly --config nightly.yaml --src de --tgt en --pairs known.tsv --for-precision 0.95 \
      --write nightly.yaml`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, _, err := o.Load()
			if err != nil {
				return err
			}
			if !(o.precision >= 0 && o.precision <= 1) { // a NaN is neither
				return badinput.Errorf("mine calibrate: --for-precision %g must be from 0 to 1; 95 percent is 0.95", o.precision)
			}
			if o.labels != "" && o.write != "" && o.precision == 0 {
				return badinput.Errorf("mine calibrate: --write needs --for-precision, for which labels choose a threshold: give both, or neither")
			}
			if o.labels != "" {
				return calibrateByLabels(cmd.Context(), &o, cfg, cmd.OutOrStdout())
			}
			if o.write != "" && o.Sample() {
				return badinput.Errorf("mine calibrate: no text is named, so the threshold for %s would be of the program's sample: "+
					"name yours with --src-text and --tgt-text, or give --nightly for the text of a night", o.write)
			}
			o.WarnSample()
			return runCalibrate(cmd.Context(), o, *cfg, cmd.OutOrStdout())
		},
	}
	o.Register(cmd, unread...)
	f := cmd.Flags()
	f.StringVar(&o.pairs, "pairs", "", "known pairs to inject: source<TAB>target a line, or a file with the columns "+
		"src_text and tgt_text, .csv, .tmx, .xliff, .po or .jsonl")
	f.StringVar(&o.labels, "labels", "",
		"output directory of a run: estimate precision from what people decided on its pairs")
	f.Float64Var(&o.precision, "for-precision", 0, "wanted precision, from 0 to 1; 0: the best F1")
	f.IntVar(&o.resamples, "resamples", 500, "bootstrap samples")
	f.StringVar(&o.write, "write", "", "write the threshold, and for a margin scorer: none and which margin and k it is, into this YAML config")
	f.StringVar(&o.curve, "curve", "", "write the estimates at every threshold to this TSV file")
	flags.Updated.Mark(f, "write")
	flags.Text.Mark(f, "curve")
	flags.Group("Calibration").AddFirst(f, "pairs", "labels", "for-precision", "resamples", "write", "curve")
	flags.Output.AddFirst(f, "nightly") // the example has it
	return program.GoesOn(cmd)
}

func runCalibrate(ctx context.Context, o calibrateOptions, cfg pipeline.Config, out io.Writer) error {
	if o.resamples < 1 {
		return badinput.Errorf("mine calibrate: --resamples %d must be at least 1, as the intervals are of samples", o.resamples)
	}
	if cfg.Retrieval != string(mine.Max) {
		return badinput.Errorf("mine calibrate: a threshold can be estimated for max retrieval only, not for %s",
			cfg.Retrieval)
	}
	// The result is a threshold of the margin; a scorer has one of its own.
	cfg.Scorer, cfg.Precision, cfg.Cut, cfg.Features, cfg.Threshold = score.None, 0, "", false, 0
	known, err := knownPairs(o.pairs, cfg)
	if err != nil {
		return err
	}
	c, err := pipeline.Calibrate(ctx, cfg, known, program.RunOptions(progress.New(os.Stderr)))
	if err != nil {
		return err
	}
	if n := len(c.Whole) + len(c.Unpaired); o.pairs == "" && n > c.Sources/4 {
		slog.Warn(fmt.Sprintf("the %d known pairs are the program's own, of manuals, and many beside %d sentences: where the text is of another kind "+
			"precision may be estimated far too high or far too low; give pairs like the text (--pairs)", n, c.Sources))
	}
	estimates := c.Estimate(o.resamples, 1)
	if len(estimates) == 0 {
		return badinput.Errorf("mine calibrate: nothing was mined, so there is no threshold to choose: check the text and " +
			"the encoder's languages")
	}
	chosen, err := o.choose(estimates)
	if err != nil {
		return err
	}
	e, misfit := c.Misfit(estimates)
	if misfit {
		slog.Warn(fmt.Sprintf("the known pairs are not like the text: by them %.0f of the %d pairs above %.4f would be right, which does not fit "+
			"lower thresholds, so neither precision nor the threshold is to be trusted; give pairs that are more like the text (--pairs)", e.Right.Value, e.Kept, e.Threshold))
	}
	if err := printCalibration(out, c, estimates, chosen); err != nil {
		return err
	}
	if o.curve != "" {
		if err := writeEstimates(o.curve, estimates); err != nil {
			return err
		}
	}
	switch {
	case o.write != "" && misfit:
		return badinput.Errorf("mine calibrate: the threshold is not written into %s, as the known pairs are not like the text: "+
			"give pairs that are (--pairs), or leave out --write", o.write)
	case o.write != "":
		for _, flag := range []string{"encoder", "refine"} {
			if o.Changed(flag) {
				slog.Warn(fmt.Sprintf("the threshold in %s is of --%s, which is not written: give it to each run, or set it there", o.write, flag))
			}
		}
		return writeThreshold(o.write, chosen.Threshold, &cfg.Decision)
	}
	return nil
}

// choose returns the estimate with the best F1, or the one for the precision that is asked for.
func (o calibrateOptions) choose(estimates []calibration.Estimate) (calibration.Estimate, error) {
	chosen := calibration.BestF1(estimates)
	if chosen.F1.Value == 0 {
		return chosen, badinput.Errorf("mine calibrate: no pair of the text is estimated to be right at any threshold, so there is none to choose: " +
			"give known pairs (--pairs) that are more like the text")
	}
	if o.precision > 0 {
		var ok bool
		if chosen, ok = calibration.ForPrecision(estimates, o.precision); !ok {
			return chosen, badinput.Errorf("mine calibrate: no threshold is estimated to give a precision of %g: ask for less, or "+
				"give pairs that are more like the text", o.precision)
		}
	}
	return chosen, nil
}

// knownPairs reads the pairs to inject, and warns if their columns seem swapped; without a file, the program's own for
// its two languages.
func knownPairs(path string, cfg pipeline.Config) ([]exchange.Pair, error) {
	if path == "" {
		return exchange.FixturePairs(cfg.Source, cfg.Target)
	}
	pairs, err := exchange.ReadKnown(path, cfg.Source, cfg.Target)
	if err == nil {
		warnSwapped(pairs, path, &cfg)
	}
	return pairs, err
}

func printCalibration(out io.Writer, c calibration.Outcomes, estimates []calibration.Estimate,
	chosen calibration.Estimate) error {
	fmt.Fprintf(out, "%d known pairs injected whole, %d sources without their partner", len(c.Whole), len(c.Unpaired))
	if c.Dropped > 0 {
		fmt.Fprintf(out, "; %d left out, as the text or a pair before has a side of them", c.Dropped)
	}
	fmt.Fprintf(out, "\nestimated, with 95%% bootstrap intervals over the injected pairs\n\n")
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "threshold\tpairs kept\tprecision\trecall\tF1\t")
	step := max(1, len(estimates)/12)
	for i, e := range estimates {
		if i%step == 0 || e == chosen {
			fmt.Fprintf(table, "%.4f\t%d\t%s\t%s\t%s\t\n", e.Threshold, e.Kept, shown(e.Precision), shown(e.Recall), shown(e.F1))
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\nthreshold %.6f: %d pairs kept, precision %s, recall %s, F1 %s\n", chosen.Threshold,
		chosen.Kept, shown(chosen.Precision), shown(chosen.Recall), shown(chosen.F1))
	return err
}

func shown(i calibration.Interval) string {
	return fmt.Sprintf("%.3f [%.3f, %.3f]", i.Value, i.Low, i.High)
}

func writeEstimates(path string, estimates []calibration.Estimate) error {
	return textfile.Write(path, func(f io.Writer) error {
		fmt.Fprintln(f, "threshold\tkept\tprecision\tprecision_low\tprecision_high\t"+
			"recall\trecall_low\trecall_high\tf1\tf1_low\tf1_high")
		for _, e := range estimates {
			fmt.Fprintf(f, "%v\t%d", e.Threshold, e.Kept)
			for _, i := range []calibration.Interval{e.Precision, e.Recall, e.F1} {
				fmt.Fprintf(f, "\t%.4f\t%.4f\t%.4f", i.Value, i.Low, i.High)
			}
			if _, err := fmt.Fprintln(f); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeThreshold sets the threshold in a YAML config. One of the margin turns the scorer off, and the margin and its k
// are set, too, where the config says others; without one (nil) it is a probability. The other settings and the
// comments stay. A file that does not exist is created.
func writeThreshold(path string, threshold float64, of *setting.Decision) error {
	var doc yaml.Node
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the config: %w", err)
	}
	if err := yamlbound.Check(text, "config "+path); err != nil {
		return err
	}
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return badinput.Errorf("config %s is not YAML (%s): the threshold was not written", path,
			strings.Join(strings.Fields(err.Error()), " "))
	}
	var comments []byte // text of a file without settings, for which there is no node
	if doc.Kind == 0 {
		if comments = text; len(text) > 0 && text[len(text)-1] != '\n' {
			comments = append(comments, '\n')
		}
		doc = yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{{Kind: yaml.MappingNode, Tag: "!!map"}}}
	}
	settings := doc.Content[0]
	if settings.Kind != yaml.MappingNode {
		return badinput.Errorf("config %s is no list of settings: the threshold was not written", path)
	}
	if scorer := settingOf(settings, "scorer"); of == nil && scorer != nil && scorer.Value == "none" {
		return badinput.Errorf("config %s has scorer none, with which a threshold is one of the margin, and the labels are of "+
			"probabilities: the threshold was not written; remove scorer from the config", path)
	}
	// Rounded down: the pairs at the threshold are kept.
	rounded := math.Floor(threshold*1e6) / 1e6
	setSetting(settings, "threshold", "!!float", fmt.Sprintf("%.6f", rounded), true)
	setSetting(settings, "precision", "!!int", "0", false) // it would replace the threshold
	setSetting(settings, "cut", "!!str", "", false)
	if of != nil {
		setSetting(settings, "scorer", "!!str", "none", true)
		setSetting(settings, "features", "!!bool", "false", false) // they need a scorer
		defaults := flags.Declared("margin", "k")
		setSetting(settings, "margin", "!!str", of.Margin, of.Margin != defaults[0].Default)
		setSetting(settings, "k", "!!int", strconv.Itoa(of.K), of.K != defaults[1].Default)
	}
	written, err := yaml.Marshal(&doc)
	if err != nil {
		return fmt.Errorf("write the config: %w", err)
	}
	return atomicfile.WriteBytes(path, append(comments, written...))
}

// setSetting sets the value of a key of a mapping and keeps its comment. A key that does not exist is added if add is
// true.
func setSetting(settings *yaml.Node, key, tag, text string, add bool) {
	value := &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: text}
	if was := settingOf(settings, key); was != nil {
		value.LineComment = was.LineComment
		*was = *value
	} else if add {
		settings.Content = append(settings.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value)
	}
}

// settingOf is the value of a key of a mapping, or nil.
func settingOf(settings *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(settings.Content); i += 2 {
		if settings.Content[i].Value == key {
			return settings.Content[i+1]
		}
	}
	return nil
}
