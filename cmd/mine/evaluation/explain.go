package evaluation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/bitext"
	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/filter"
	"bitextmine/internal/badinput"
	"bitextmine/mine"
	"bitextmine/pipeline/decide"
	"bitextmine/pipeline/view"
)

// explainOptions are the flags of mine explain.
type explainOptions struct {
	flags.Settings
	table, run string
}

// NewExplain makes mine explain.
func NewExplain() *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain RUN (ROW | SOURCE-SENTENCE TARGET-SENTENCE)",
		Short: "Show why a pair has its score, and why it was kept or not",
		Long: `Show why a pair has its score: the k nearest neighbours of both sentences with their cosines, both means, the
ranks, which side proposed the pair, and which pair was kept instead. The pair is a row of the run's bitext file,
counted from 0, or two sentences of the run's text. RUN is an output directory, or its bitext file; --run and --bitext
name it, too. Everything else is read from the run: run.json names its settings and its work directory. Nothing is
encoded.`,
		Example: `  mine explain mined 17
  mine explain mined "Guten Morgen." "Good morning."`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runExplain(cmd.Context(), &o, args, cmd.OutOrStdout())
		},
	}
	o.RegisterSome(cmd, flags.Declared("onnxruntime", "threads"))
	cmd.Flags().StringVar(&o.table, "bitext", "", "the run's bitext file that has the row")
	cmd.Flags().StringVar(&o.run, "run", "", "the run's output directory")
	return cmd
}

func runExplain(ctx context.Context, o *explainOptions, args []string, out io.Writer) (err error) {
	cfg, _, err := o.Load()
	if err == nil {
		err = cfg.Resolve()
	}
	if err != nil {
		return err
	}
	location, pair, err := o.named(args)
	if err != nil {
		return err
	}
	run, err := view.Open(ctx, location, program.Version, slog.Default())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, run.Close()) }()
	texts := [2]string{pair[0]}
	if len(pair) == 2 {
		texts[1] = pair[1]
	} else if texts, err = rowTexts(ctx, run.Bitext, pair[0]); err != nil {
		return err
	}
	if whole, err := explainAlignment(ctx, out, run.Bitext, texts); err != nil || whole {
		return err
	}
	lists, err := run.Pair(0)
	if err != nil {
		return err
	}
	explainer, err := decide.NewExplainer(ctx, lists, run.Model, cfg.EncoderOptions())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, explainer.Close()) }()
	x, err := explainer.Explain(ctx, texts[0], texts[1])
	if err != nil {
		return err
	}
	printNeighbours(out, x, run)
	printContributions(out, x)
	printVerdict(out, x, run)
	return nil
}

// named returns the run, its output directory or its bitext file, and the pair: a row or two sentences.
func (o *explainOptions) named(args []string) (run string, pair []string, err error) {
	run, pair = cmp.Or(o.table, o.run), args
	if o.table != "" && o.run != "" {
		return "", nil, badinput.Errorf("mine explain: --bitext and --run both name the run; give one")
	}
	if run == "" && len(args) > 0 {
		run, pair = args[0], args[1:]
	}
	if len(pair) != 1 && len(pair) != 2 {
		return "", nil, badinput.Errorf("mine explain: give the run's output directory or bitext file, then a row number or " +
			"the two sentences of a pair")
	}
	if _, err := os.Stat(run); err != nil {
		return "", nil, badinput.Errorf("mine explain: %q is no run: give its output directory or bitext file, then a row number or "+
			"the two sentences of a pair", run)
	}
	return run, pair, nil
}

// rowTexts returns both texts of a row of a bitext file.
func rowTexts(ctx context.Context, table, row string) (texts [2]string, err error) {
	n, err := strconv.Atoi(row)
	if err != nil || n < 0 {
		return texts, badinput.Errorf("mine explain: %q is not a row number", row)
	}
	file, err := bitext.Open(table)
	if err != nil {
		return texts, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	at := 0
	for row, err := range file.Rows(ctx) {
		if err != nil {
			return texts, err
		}
		if at == n {
			return [2]string{row.Source.Text, row.Target.Text}, nil
		}
		at++
	}
	return texts, badinput.Errorf("%s has %d rows, so none has the number %d (rows count from 0)", table, at, n)
}

func printNeighbours(out io.Writer, x *decide.Explanation, run *view.Run) {
	source, target := run.Plan.Side(0, 0).Code, run.Plan.Side(0, 1).Code
	fmt.Fprintf(out, "%s\n%s\n\n", x.Source.Text, x.Target.Text)
	fmt.Fprintf(out, "%s margin %.6f = cosine %.6f against neighbourhood means %.6f (%s) and %.6f (%s), k = %d\n\n",
		run.Plan.Settings.Margin, x.Score, min(x.Cosine,
			1), x.SourceMean, source, x.TargetMean, target, len(x.Source.Neighbours))
	if x.Product != nil {
		fmt.Fprintf(out, "%.6f = margin x cosine %.6f of %s\n\n", *x.Product, x.RefineCosine, run.Plan.Refiner.Name)
	}
	printSide(out, "nearest "+target+" sentences of the "+source+" one", x.Source, x.SourceRank)
	printSide(out, "nearest "+source+" sentences of the "+target+" one", x.Target, x.TargetRank)
}

func printSide(out io.Writer, title string, side decide.ExplainedSide, rank uint8) {
	place := "the partner is not among them"
	if rank != mine.Unranked {
		place = fmt.Sprintf("the partner is number %d", rank+1)
	}
	fmt.Fprintf(out, "%s (%s)\n     cosine    margin\n", title, place)
	for i, n := range side.Neighbours {
		mark := " "
		if n.Partner {
			mark = "*"
		}
		proposed := ""
		if i == side.Best {
			proposed = "   <- proposed"
		}
		fmt.Fprintf(out, "  %s  %.6f  %.6f  %s%s\n", mark, min(n.Cosine, 1), n.Score, n.Text, proposed)
	}
	fmt.Fprintln(out)
}

// printContributions shows what a scorer made of a candidate.
func printContributions(out io.Writer, x *decide.Explanation) {
	if !x.Scored || !x.Candidate {
		return
	}
	fmt.Fprintf(out, "probability %.4f; what each feature adds to the log odds:\n", x.Probability)
	sum := x.Intercept
	for _, part := range x.Contributions {
		sum += part.Logit
		fmt.Fprintf(out, "  %+8.3f  %-16s %.3f\n", part.Logit, part.Feature, part.Value)
	}
	fmt.Fprintf(out, "  %+8.3f  intercept\n", x.Intercept)
	if x.Judged != nil {
		sum += x.ByJudge
		fmt.Fprintf(out, "  %+8.3f  judge, whose logit is %.3f\n", x.ByJudge, x.Judged.Logit)
	}
	fmt.Fprintf(out, "  %+8.3f  the text: its share of translations, near misses, the order of short pairs\n  %+8.3f  log odds\n\n", x.Adapted, sum+x.Adapted)
}

func printVerdict(out io.Writer, x *decide.Explanation, run *view.Run) {
	if x.Verdict == mine.Rejected {
		fmt.Fprintf(out, "not kept, whatever its score: %s", strings.Join(x.Rejection.Reasons(), ", "))
		if x.Rejection&filter.Label != 0 {
			fmt.Fprint(out, " (a person rejected it, which mine accept takes back)")
		}
		if x.Rejection&^filter.Label != 0 {
			fmt.Fprint(out, " (docs/languages.md; --keep-foreign and --keep-copies keep such pairs)")
		}
		fmt.Fprintln(out)
		return
	}
	if x.Scored {
		fmt.Fprintln(out, scoredVerdict(x, run))
	} else {
		fmt.Fprintln(out, marginVerdict(x, run))
	}
	for _, w := range x.Winners {
		fmt.Fprintf(out, "  %.6f  %s\n            %s\n", w.Score, w.Source, w.Target)
	}
}

// scoredVerdict says in words what became of a pair where a scorer decides.
func scoredVerdict(x *decide.Explanation, run *view.Run) string {
	rule := fmt.Sprintf("the threshold %g", x.Threshold)
	if precision := run.Plan.Settings.Precision; precision > 0 {
		rule += fmt.Sprintf(", which leaves a precision of %g over the whole run", precision)
	}
	switch {
	case !x.Candidate && len(x.Winners) == 0:
		return "neither sentence has the other among its neighbours, so the scorer was not asked"
	case !x.Candidate:
		return "neither sentence has the other among its neighbours, so the scorer was not asked; " +
			"their sentences were kept in:"
	case x.Verdict == mine.Kept:
		return "kept: the probability is at least " + rule
	case x.Verdict == mine.BelowThreshold:
		return "not kept: the probability is below " + rule
	}
	return "not kept: a pair with a higher probability has one of its sentences:"
}

// marginVerdict says in words what became of a pair where the margin decides.
func marginVerdict(x *decide.Explanation, run *view.Run) string {
	var by []string
	if x.Forward {
		by = append(by, "the "+run.Plan.Side(0, 0).Code+" sentence")
	}
	if x.Backward {
		by = append(by, "the "+run.Plan.Side(0, 1).Code+" sentence")
	}
	switch {
	case !x.Candidate && len(x.Winners) == 0:
		return "neither sentence proposed the pair, so it was not scored"
	case !x.Candidate:
		return "neither sentence proposed the pair, so it was not scored; their sentences were kept in:"
	}
	proposed := "proposed by " + strings.Join(by, " and ")
	switch x.Verdict {
	case mine.Kept:
		return fmt.Sprintf("%s, kept: the score is above the threshold %g", proposed, x.Threshold)
	case mine.BelowThreshold:
		return fmt.Sprintf("%s, not kept: the score is not above the threshold %g", proposed, x.Threshold)
	case mine.BelowFloor:
		return fmt.Sprintf("%s, not kept: the margin is not above refine_floor = %g, so %s did not look at it", proposed,
			x.RefineFloor, run.Plan.Refiner.Name)
	case mine.NotProposed:
		return fmt.Sprintf("%s, not kept: %s retrieval requires the other side to propose it", proposed,
			run.Plan.Settings.Retrieval)
	}
	return proposed + ", not kept: a pair with a higher score has one of its sentences:"
}
