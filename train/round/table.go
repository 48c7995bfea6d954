package round

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"bitextmine/internal/atomicfile"
)

// column is one number of each round.
type column struct {
	name string
	cell func(Round) string
}

// columns are the columns of the table. Those about mining are empty for a round that mined nothing.
func columns(rounds []Round) []column {
	count := func(name string, of func(Round) int) column {
		return column{name, func(r Round) string {
			if r.Round == 0 {
				return ""
			}
			return fmt.Sprint(of(r))
		}}
	}
	all := []column{
		{"round", func(r Round) string { return fmt.Sprint(r.Round) }},
		count("mined", func(r Round) int { return r.Mined }),
		count("kept", func(r Round) int { return r.Kept }),
		count("shared", func(r Round) int { return r.Shared }),
		{"overlap %", func(r Round) string {
			if r.Round < 2 {
				return ""
			}
			return fmt.Sprintf("%.1f", r.Overlap())
		}},
		count("steps", func(r Round) int { return r.Steps }),
	}
	for _, name := range names(rounds) {
		all = append(all, column{name, func(r Round) string {
			if x, ok := r.Dev[name]; ok {
				return fmt.Sprintf("%.2f", x)
			}
			return ""
		}})
	}
	return append(all, column{"encoder", func(r Round) string { return r.Encoder }})
}

// names are the names of the dev figures of all rounds.
func names(rounds []Round) []string {
	all := map[string]bool{}
	for _, r := range rounds {
		for name := range r.Dev {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// Print prints the rounds side by side, because there are more figures than fit in a line.
func Print(out io.Writer, rounds []Round) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, c := range columns(rounds) {
		if c.name == "encoder" {
			continue // too long for a column
		}
		fmt.Fprint(table, c.name)
		for _, r := range rounds {
			fmt.Fprintf(table, "\t%s", c.cell(r))
		}
		fmt.Fprintln(table)
	}
	return table.Flush()
}

// write publishes rounds.tsv and rounds.json.
func write(dir string, rounds []Round) error {
	var tsv strings.Builder
	all := columns(rounds)
	line := func(cell func(column) string) {
		cells := make([]string, len(all))
		for i, c := range all {
			cells[i] = cell(c)
		}
		tsv.WriteString(strings.Join(cells, "\t") + "\n")
	}
	line(func(c column) string { return c.name })
	for _, r := range rounds {
		line(func(c column) string { return c.cell(r) })
	}
	if err := atomicfile.WriteBytes(filepath.Join(dir, "rounds.tsv"), []byte(tsv.String())); err != nil {
		return err
	}
	return atomicfile.WriteJSON(filepath.Join(dir, "rounds.json"), rounds)
}
