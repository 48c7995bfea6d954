package run

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"bitextmine/cmd/mine/program"
	"bitextmine/internal/badinput"
	"bitextmine/pipeline"
	"bitextmine/pipeline/multiway"
	"bitextmine/pipeline/plan"
	"bitextmine/pipeline/simulate"
)

// runSimulation prints what a run would take on the machines of a file. What cannot be done there is a badinput error
// after it.
func runSimulation(cfg pipeline.Config, path string, asJSON bool, out io.Writer) error {
	cluster, err := simulate.ReadCluster(path)
	if err != nil {
		return err
	}
	given := cfg.Source != "" || cfg.Target != "" || multiway.Asked(&cfg)
	cfg, err = cfg.Shown()
	if err != nil {
		return err
	}
	if given && !slices.Equal(cluster.Pairs, []string{cfg.Source + "-" + cfg.Target}) {
		return badinput.Errorf("%s is of %s, not of the languages that are given: leave them out, or change its pairs", path, strings.Join(cluster.Pairs, ", "))
	}
	request, err := simulate.RequestOf(&cfg, program.Version)
	if err != nil {
		return err
	}
	s, err := simulate.Run(cluster, request)
	if err != nil {
		return err
	}
	if asJSON {
		err = printJSON(out, s)
	} else {
		err = printSimulation(out, s)
	}
	if err == nil && len(s.Problems) > 0 {
		err = badinput.Errorf("the cluster of %s cannot do the run: %s", path, s.Problems[0])
	}
	return err
}

func printSimulation(out io.Writer, s *simulate.Simulation) error {
	for _, l := range s.Languages {
		fmt.Fprintf(out, "%s: %s sentences in %d shards\n", l.Code, count(int64(l.Sentences)), l.Shards)
	}
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "stage\ttasks\tdone\titems to do\t\ttime\tbound by\tmemory\tread\twritten\tdone again\t\n")
	for _, st := range s.Stages {
		fmt.Fprintf(table, "%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", st.Name, st.Tasks, st.Done, short(st.Items),
			st.Unit, spell(st.Seconds), st.BoundBy,
			plan.Bytes(st.Memory), plan.Bytes(int64(st.Read)), plan.Bytes(int64(st.Written)), spell(st.Lost))
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\ntime        %s\n", spell(s.Seconds))
	if s.Price > 0 {
		fmt.Fprintf(out, "price       %.2f %s for all machines from beginning to end, %.2f for the time that they work\n",
			s.Price, s.Currency, s.BusyPrice)
	}
	for _, m := range s.Machines {
		fmt.Fprintf(out, "machines    %s: busy %.0f%% of the time\n", m.Name, 100*m.Busy)
	}
	fmt.Fprintf(out, "store       %s at the end\nplan        %s\n", plan.Bytes(int64(s.Disk)),
		plan.Bytes(int64(s.PlanBytes)))
	for _, note := range s.Notes {
		fmt.Fprintf(out, "note        %s\n", note)
	}
	for _, problem := range s.Problems {
		fmt.Fprintf(out, "not done    %s\n", problem)
	}
	return nil
}

// spell shows a time with two units at most.
func spell(seconds float64) string {
	const minute, hour, day, year = 60, 3600, 24 * 3600, 365 * 24 * 3600
	whole := int64(min(seconds, math.MaxInt64/2))
	switch {
	case whole >= 10*year:
		return fmt.Sprintf("%.3g years", seconds/year)
	case whole >= day:
		return fmt.Sprintf("%d d %d h", whole/day, whole%day/hour)
	case whole >= hour:
		return fmt.Sprintf("%d h %d min", whole/hour, whole%hour/minute)
	case whole >= minute:
		return fmt.Sprintf("%d min %d s", whole/minute, whole%minute)
	}
	return fmt.Sprintf("%.1f s", seconds)
}
