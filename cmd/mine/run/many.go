package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"bitextmine/cmd/mine/program"
	"bitextmine/pipeline"
	"bitextmine/pipeline/multiway"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/progress"
	"bitextmine/pipeline/record"
)

// runMany mines every pair of a run over many. One night of it runs at a time: another is a *lockfile.Locked error.
func runMany(ctx context.Context, cfg pipeline.Config, nightly bool, out io.Writer) (err error) {
	if _, err := cfg.NewEngine(); err != nil {
		return err
	}
	if err := multiway.Check(&cfg); err != nil { // else a night would have made its lock by then
		return err
	}
	opts, fail := program.RunOptions(progress.Silent), func(error) {}
	switch {
	case cfg.DryRun != nil:
	case nightly:
		release, locked := lock(cfg.Out)
		if locked != nil {
			return locked
		}
		defer func() { err = errors.Join(err, release()) }()
		opts, fail = nightOptions(out)
	default:
		opts = program.RunOptions(progress.New(os.Stderr))
	}
	mine := func(ctx context.Context, cfg pipeline.Config) (*record.Report, error) {
		r, err := mining(nightly)(ctx, cfg, opts)
		if err != nil {
			fail(err)
		}
		return r, err
	}
	var together multiway.Together
	if cfg.Remote() {
		together = func(ctx context.Context, cfgs []pipeline.Config, out string) (*multiway.Done, error) {
			return pipeline.Together(ctx, cfgs, out, nightly, opts)
		}
	}
	r, err := multiway.Run(ctx, cfg, nightly, opts.Log, together, mine)
	if r == nil || cfg.DryRun != nil {
		return err
	}
	return errors.Join(err, printMany(out, cfg.Out, r))
}

func printMany(out io.Writer, dir string, r *multiway.Report) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "\npair\tpairs kept\tbitext\n")
	for _, p := range r.Pairs {
		if p.Failed != "" {
			fmt.Fprintf(table, "%s\t\tfailed: %s\n", p.Pair, p.Failed)
			continue
		}
		fmt.Fprintf(table, "%s\t%d\t%s\n", p.Pair, p.Kept, p.Bitext)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if len(r.Rows) > 0 && !r.Stale {
		fmt.Fprintf(out, "\n%s: %d rows of %d and more languages, %d of all %d\n", filepath.Join(dir, multiway.TableName),
			r.Rows[multiway.MinLanguages], multiway.MinLanguages, r.Rows[len(r.Languages)], len(r.Languages))
	}
	if r.Conflicts > 0 && !r.Stale {
		fmt.Fprintf(out, "%s: %d kept pairs would bring two sentences of one language together\n",
			filepath.Join(dir, multiway.ConflictsName), r.Conflicts)
	}
	if !slices.ContainsFunc(r.Pairs, func(p multiway.PairReport) bool { return p.Failed == "" }) {
		return nil // the report there is of an earlier run
	}
	_, err := fmt.Fprintln(out, filepath.Join(dir, multiway.ReportName))
	return err
}

// planMany prints what every pair would take, after what the pairs before it will have done, and all together.
func planMany(ctx context.Context, cfg pipeline.Config, asJSON bool, out io.Writer) error {
	pairs, err := multiway.Pairs(&cfg)
	if err != nil {
		return err
	}
	configs, err := multiway.Configs(cfg, pairs)
	if err != nil {
		return err
	}
	opts := program.RunOptions(progress.Silent)
	for _, warning := range cfg.SortWarnings {
		opts.Log.Warn(warning)
	}
	opts.Planned = map[string]bool{}
	var estimates []*pipeline.Estimate
	var refused []error
	for i, one := range configs {
		e, err := pipeline.Plan(ctx, one, opts)
		if e == nil {
			return fmt.Errorf("%s: %w", pairs[i], err)
		}
		if err != nil {
			refused = append(refused, fmt.Errorf("%s: %w", pairs[i], err))
		}
		estimates = append(estimates, e)
	}
	if asJSON {
		err = printJSON(out, estimates)
	} else {
		err = printEstimates(out, pairs, estimates)
	}
	return errors.Join(append(refused, err)...)
}

func printEstimates(out io.Writer, pairs []multiway.Pair, estimates []*pipeline.Estimate) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "pair\ttasks to do\ttime\tmemory\tdisk\tmust be free\t\n")
	var spent time.Duration
	var written, peak int64
	for i, e := range estimates {
		left := 0
		for _, s := range e.Stages {
			left += s.Tasks - s.Done
		}
		fmt.Fprintf(table, "%s\t%d\t%s\t%s\t%s\t%s\t\n", pairs[i], left, e.Time.Round(time.Second),
			plan.Bytes(e.Expected), plan.Bytes(e.Disk), plan.Bytes(e.DiskPeak))
		peak = max(peak, written+e.DiskPeak)
		spent, written = spent+e.Time, written+e.Disk
	}
	fmt.Fprintf(table, "all\t\t%s\t\t%s\t%s\t\n", spent.Round(time.Second), plan.Bytes(written), plan.Bytes(peak))
	return table.Flush()
}
