// Package verdict makes one table of the claims that a page of bench/reproduce decides, and fills in pages.
package verdict

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"

	"bitextmine/internal/atomicfile"
	"bitextmine/internal/badinput"
)

// verdict is a claim on one part of a budget, as the page with the rows has it.
type verdict struct {
	paper, says, budget string
	outcome             string // held, not held, not tested
	figure, by, claimed string // the first comparison: the figure, the difference and the paper's
}

var (
	beginOfBudget = regexp.MustCompile(`^<!-- ([a-z0-9-]+) -->$`)
	lineOfClaim   = regexp.MustCompile("^\\| (\\w+) \\| ([^|]+) \\| \\*\\*([^|*]+)\\*\\* \\| `[^|]+`, ([^|]+) \\| (\\S+)(?: \\([^|)]*paper ([0-9.]+)\\))?")
)

// verdicts reads the claims from a page with rows, in the page's order.
func verdicts(page string) (all []verdict) {
	budget := ""
	for line := range strings.Lines(page) {
		if m := beginOfBudget.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			budget = m[1]
		}
		if m := lineOfClaim.FindStringSubmatch(line); m != nil {
			all = append(all, verdict{paper: m[1], says: m[2], budget: budget, outcome: m[3], figure: m[4], by: m[5], claimed: m[6]})
		}
	}
	return all
}

// Table is the table of claims and budgets, read from a page with rows. The claims are in the given order, and the
// parts of a budget are one line.
func Table(page string, order []string) string {
	var groups [][]verdict
	for _, v := range verdicts(page) {
		at := slices.IndexFunc(groups, func(g []verdict) bool { return g[0].says == v.says && g[0].budget == v.budget })
		if at < 0 {
			groups = append(groups, []verdict{v})
			continue
		}
		groups[at] = append(groups[at], v)
	}
	slices.SortStableFunc(groups, func(a, b []verdict) int { return slices.Index(order, a[0].says) - slices.Index(order, b[0].says) })
	var w strings.Builder
	fmt.Fprint(&w, "| paper | claim | budget | here | better by | in the paper |\n| --- | --- | --- | --- | --- | --- |\n")
	last := ""
	for _, g := range groups {
		paper, says := g[0].paper, g[0].says
		if says == last {
			paper, says = "", ""
		}
		last = g[0].says
		line := fmt.Sprintf("| %s | %s | `%s` | %s | %s | %s |\n", paper, says, g[0].budget, outcomes(g), effects(g), g[0].claimed)
		w.WriteString(strings.ReplaceAll(line, "|  ", "| "))
	}
	return w.String()
}

// outcomes is what the parts say of a claim: one outcome, or in how many parts it is held.
func outcomes(g []verdict) string {
	held := 0
	for _, v := range g {
		if v.outcome == "held" {
			held++
		}
	}
	if held > 0 && held < len(g) {
		return fmt.Sprintf("held in %d of %d", held, len(g))
	}
	return "**" + g[0].outcome + "**"
}

// effects are the differences of the parts' first comparison, in points.
func effects(g []verdict) string {
	var all []string
	for _, v := range g {
		all = append(all, v.by)
	}
	return strings.Join(all, ", ") + " " + g[0].figure
}

// Write writes the table of claims of a page with rows into another page.
func Write(rows, page string, order []string) error {
	raw, err := os.ReadFile(rows)
	if err != nil {
		return err
	}
	return Fill(page, "claims", Table(string(raw), order))
}

// Fill replaces the text between a page's marks of a budget.
func Fill(page, budget, text string) error {
	raw, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	begin, end := "<!-- "+budget+" -->\n", "<!-- end of "+budget+" -->"
	before, rest, found := strings.Cut(string(raw), begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return badinput.Errorf("%s has no lines %s and %s for the tables: add them", page, strings.TrimSpace(begin), end)
	}
	return atomicfile.WriteBytes(page, []byte(before+begin+"\n"+text+"\n"+end+after))
}
