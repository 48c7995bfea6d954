package run

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"bitextmine/internal/badinput"
	"bitextmine/pipeline/admin"
)

// diffing is how changes are shown.
type diffing struct {
	json bool
	show int
	min  float64
}

// NewDiff makes mine diff.
func NewDiff() *cobra.Command {
	how := diffing{show: 10, min: 0.01}
	cmd := &cobra.Command{
		Use:   "diff RUN1 RUN2",
		Short: "Compare two runs: files, and pairs added, removed, rescored",
		Long: `Compare the kept pairs of two runs, each named by its output directory or its bitext file: those removed,
added and rescored, with their causes, and the input files that came, went or changed.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 2 {
				return badinput.Errorf("mine diff takes two runs, not %d arguments", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !(how.min >= 0) {
				return badinput.Errorf("--min-change is %g: give a number from 0", how.min)
			}
			d, err := admin.Diff(cmd.Context(), args[0], args[1])
			if err != nil {
				return err
			}
			return how.print(cmd.OutOrStdout(), d)
		},
	}
	cmd.Flags().BoolVar(&how.json, "json", false, "print every change as a line of JSON")
	cmd.Flags().IntVar(&how.show, "show", how.show, "changes of each kind to show, best first; -1: all")
	cmd.Flags().Float64Var(&how.min, "min-change", how.min, "hide pairs whose score changed by less; 0: hide none")
	return cmd
}

func (how diffing) print(w io.Writer, d *admin.Difference) error {
	out := bufio.NewWriter(w)
	changes, hidden := map[string][]admin.Change{}, 0
	for _, c := range d.Changes {
		if c.Kind == admin.Rescored && math.Abs(float64(c.After)-float64(c.Before)) < how.min {
			hidden++
			continue
		}
		changes[c.Kind] = append(changes[c.Kind], c)
	}
	if how.json {
		return how.printJSON(out, d, changes)
	}
	fmt.Fprintf(out, "%d pairs before, %d after\n", d.Before, d.After)
	fmt.Fprintf(out, "%d removed%s\n%d added%s\n", d.Removed, causes(d.Causes[admin.Removed]), d.Added,
		causes(d.Causes[admin.Added]))
	fmt.Fprintf(out, "%d rescored", d.Rescored)
	if hidden > 0 {
		fmt.Fprintf(out, ", %d of them by less than %g, which are hidden (--min-change)", hidden, how.min)
	}
	fmt.Fprintln(out)
	for i, file := range d.Files {
		if how.show >= 0 && i == 2*how.show {
			fmt.Fprintf(out, "%d more files; --show -1 shows all\n", len(d.Files)-i)
			break
		}
		fmt.Fprintf(out, "%-7s %s\n", file.Kind, file.Path)
	}
	for _, kind := range admin.Kinds {
		how.printKind(out, kind, changes[kind])
	}
	return out.Flush()
}

// causes lists numbers of pairs by their causes.
func causes(of map[string]int) string {
	if len(of) == 0 {
		return ""
	}
	var parts []string
	for _, cause := range slices.Sorted(maps.Keys(of)) {
		parts = append(parts, fmt.Sprintf("%s %d", cause, of[cause]))
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

func (how diffing) printKind(out io.Writer, kind string, changes []admin.Change) {
	for i, c := range changes {
		if i == how.show {
			fmt.Fprintf(out, "\n%d more %s; --show -1 shows all\n", len(changes)-i, kind)
			return
		}
		switch kind {
		case admin.Added:
			fmt.Fprintf(out, "\n+ %.3f  %s\n         %s  (%s)\n", c.After, c.Source, c.Target, c.Cause)
		case admin.Removed:
			fmt.Fprintf(out, "\n- %.3f  %s\n         %s  (%s)\n", c.Before, c.Source, c.Target, c.Cause)
		default:
			fmt.Fprintf(out, "\n~ %.3f  %s\n  %.3f  %s\n", c.Before, c.Source, c.After, c.Target)
		}
	}
}

// printJSON prints the changes of files and of pairs, a line each.
func (how diffing) printJSON(out *bufio.Writer, d *admin.Difference, changes map[string][]admin.Change) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for _, file := range d.Files {
		if err := enc.Encode(file); err != nil {
			return err
		}
	}
	for _, kind := range admin.Kinds {
		for _, c := range changes[kind] {
			if err := enc.Encode(c); err != nil {
				return err
			}
		}
	}
	return out.Flush()
}
