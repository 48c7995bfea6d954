package run

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"bitextmine/cmd/mine/flags"
	"bitextmine/cmd/mine/program"
	"bitextmine/pipeline"
	"bitextmine/pipeline/multiway"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
)

// NewPlan makes mine plan.
func NewPlan() *cobra.Command {
	var s flags.Settings
	var asJSON bool
	var cluster string
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Say what a run would do and cost, and whether it fits",
		Long: `Say what mine run with the same flags would do and cost. The text is cut into shards, which the run then
finds done; nothing else is computed but a calibration of some seconds. A run that does not fit is refused with exit
code 2.

--simulate FILE says it of corpora and machines that are not here: the file describes both (docs/scale.md), no text
is read, and no languages need be given.`,
		Args: flags.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, _, err := s.Load()
			if err != nil {
				return err
			}
			if cluster != "" {
				return runSimulation(*cfg, cluster, asJSON, cmd.OutOrStdout())
			}
			s.WarnSample()
			if err := unmix(cmd.Context(), cfg, false); err != nil {
				return err
			}
			if multiway.Asked(cfg) {
				return planMany(cmd.Context(), *cfg, asJSON, cmd.OutOrStdout())
			}
			return runPlan(cmd.Context(), *cfg, asJSON, cmd.OutOrStdout())
		},
	}
	s.Register(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&cluster, "simulate", "",
		"YAML file of corpora and machines to plan for, in place of this text and machine")
	flags.Output.AddFirst(cmd.Flags(), "json")
	flags.Machine.AddFirst(cmd.Flags(), "simulate")
	return program.GoesOn(cmd)
}

func runPlan(ctx context.Context, cfg pipeline.Config, asJSON bool, out io.Writer) error {
	if _, _, err := goldIDs(cfg.Gold); err != nil { // the run will read it
		return err
	}
	e, refused := pipeline.Plan(ctx, cfg, program.RunOptions(progress.Silent))
	if e == nil {
		return refused
	}
	if err := printPlan(out, e, asJSON); err != nil {
		return err
	}
	return refused
}

func printPlan(out io.Writer, e *pipeline.Estimate, asJSON bool) error {
	if asJSON {
		return printJSON(out, e)
	}
	fmt.Fprintf(out, "%d files, %s of text\n", e.Inputs, plan.Bytes(e.InputBytes))
	for _, l := range e.Languages {
		fmt.Fprintf(out, "%s: %d sentences in %d shards\n", l.Code, l.Sentences, l.Shards)
	}
	fmt.Fprintln(out)
	unknown, err := printStages(out, e)
	if err != nil {
		return err
	}
	printChoices(out, e)
	printNeeds(out, e)
	_, err = fmt.Fprintf(out, "time        about %s on this machine%s\nplan        %s\n", e.Time.Round(time.Second),
		unknown, record.PlanPath(e.Work, e.PlanID))
	return err
}

// printStages prints the table of stages. unknown names one whose time is not known.
func printStages(out io.Writer, e *pipeline.Estimate) (unknown string, err error) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "stage\ttasks\tdone\tto do\titems to do\t\tper second\tmemory\tat most\tdisk\t\n")
	for _, stage := range e.Stages {
		rate := ""
		if stage.Items > 0 && stage.Rate > 0 {
			rate = short(stage.Rate)
		} else if stage.Items > 0 {
			unknown = ", without " + stage.Name
		}
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t\n", stage.Name, stage.Tasks, stage.Done,
			stage.Tasks-stage.Done, count(stage.Items), stage.Unit, rate, size(stage.Expected), size(stage.MemoryBound),
			size(stage.Disk))
	}
	return unknown, table.Flush()
}

// printChoices prints what searches and what decides.
func printChoices(out io.Writer, e *pipeline.Estimate) {
	fmt.Fprintf(out, "\nsearch      %s: %s\n", e.Search.Backend, e.Search.Why)
	for _, b := range e.Backends {
		if b.Refused != "" {
			fmt.Fprintf(out, "            not %s: %s\n", b.Name, b.Refused)
			continue
		}
		fmt.Fprintf(out, "            %s would take about %s and %s\n", b.Name, b.Time.Round(time.Second/10),
			plan.Bytes(b.Memory))
	}
	if r := e.Refine; r != nil {
		about := "about %d sentences go to %s; exact once the neighbours are there\n"
		if r.Exact {
			about = "%d sentences go to %s\n"
		}
		fmt.Fprintf(out, "refine      "+about, r.Sentences, r.Encoder)
	}
	if j := e.Judge; j != nil {
		fmt.Fprintf(out, "judge       about %d pairs in doubt go to %s\n", j.Pairs, j.Judge)
	}
	if e.FitsScorer {
		fmt.Fprintln(out,
			"scorer      none of the program's is for this encoder: one is fitted to the text first, in some seconds")
	}
}

// printNeeds prints memory and disk.
func printNeeds(out io.Writer, e *pipeline.Estimate) {
	if e.Expected > 0 {
		fmt.Fprintf(out, "memory      about %s (%s), at most %s, mapped files apart; max_memory ", plan.Bytes(e.Expected),
			e.ExpectedStage, plan.Bytes(e.MemoryBound))
		if e.MaxMemory > 0 {
			fmt.Fprintf(out, "is %s and ", plan.Bytes(e.MaxMemory))
		}
		fmt.Fprintf(out, "may be %s or more (%s)\n", plan.Bytes(e.Memory), e.Stage)
	}
	fmt.Fprintf(out, "disk        %s must be free while it runs, %s remain", plan.Bytes(e.DiskPeak), plan.Bytes(e.Disk))
	if e.DiskFree > 0 {
		fmt.Fprintf(out, "; %s free", plan.Bytes(e.DiskFree))
	}
	fmt.Fprintln(out)
}

// size formats bytes; empty for none.
func size(n int64) string {
	if n == 0 {
		return ""
	}
	return plan.Bytes(n)
}

// count formats a number of items: in full below ten million, else with three digits.
func count(n int64) string {
	if n < 10_000_000 {
		return fmt.Sprint(n)
	}
	return short(float64(n))
}

// short formats a number in three digits, also one below ten.
func short(n float64) string {
	if n < 10 {
		return fmt.Sprintf("%.3g", n)
	}
	return progress.Short(n)
}
