package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"bitextmine/bench/reproduce/statistic"
)

// over summarises one number of a row's seeds.
func over(row []*result, number func(*result) float64) statistic.Summary {
	var values []float64
	for _, r := range row {
		values = append(values, number(r))
	}
	return statistic.Summarise(values)
}

// of summarises a figure of those of a row's seeds that have it.
func of(row []*result, figure string) statistic.Summary {
	var values []float64
	for _, r := range row {
		if x, ok := r.Figures[figure]; ok {
			values = append(values, x)
		}
	}
	return statistic.Summarise(values)
}

// report returns the tables of a part and the claims that they decide, as Markdown.
func report(b budget, part []string, rows map[string][]*result) string {
	var w strings.Builder
	for _, g := range b.Groups {
		describe(&w, g, rows)
	}
	table(&w, b, part, rows, false)
	table(&w, b, part, rows, true)
	checkClaims(&w, b, part, rows)
	return w.String()
}

// describe writes a sentence with what a group's rows have in common.
func describe(w *strings.Builder, g group, rows map[string][]*result) {
	var first *result // any: they share it
	teacher := ""
	for _, s := range g.Systems {
		if row := rows[s.Name]; len(row) > 0 {
			first, teacher = row[0], cmp.Or(teacher, row[0].Teacher)
		}
	}
	if first == nil {
		return
	}
	fmt.Fprintf(w, "%s: %d pairs (%d lines of each file at most%s), %d steps of %d pairs, %d dimensions, %d words",
		g.Name, first.Pairs, g.Lines, [...]string{"", ", of the odd ones", ", of the even ones"}[g.Half], first.Steps, first.Batch, first.Dim, first.Words)
	if g.Start != "" {
		fmt.Fprintf(w, "; each starts from `%s`", g.Start)
	}
	if teacher != "" {
		fmt.Fprintf(w, "; the teacher is `%s`", teacher)
	}
	fmt.Fprint(w, ".\n\n")
}

// columns are the figures of a part's first or second table that any row has.
func columns(b budget, part []string, rows map[string][]*result, second bool) (all []figure) {
	for _, f := range figures {
		if f.second != second || f.language != "" && !slices.Contains(part, f.language) {
			continue
		}
		if slices.ContainsFunc(b.systems(), func(s string) bool { return of(rows[s], f.name).N > 0 }) {
			all = append(all, f)
		}
	}
	return all
}

// table has a line for each system and a column for each figure of the first or second table. The second also has the
// learning rates and times.
func table(w *strings.Builder, b budget, part []string, rows map[string][]*result, second bool) {
	columns := columns(b, part, rows, second)
	fmt.Fprint(w, "| system | seeds |")
	for _, f := range columns {
		fmt.Fprintf(w, " %s |", f.name)
	}
	width := 2 + len(columns)
	if second {
		fmt.Fprint(w, " learning rate | processor ms a step | s a row |")
		width += 3
	}
	fmt.Fprintf(w, "\n|%s\n", strings.Repeat(" --- |", width))
	for _, system := range b.systems() {
		if len(rows[system]) > 0 {
			line(w, b, system, rows[system], columns, second)
		}
	}
	fmt.Fprintln(w)
}

func line(w *strings.Builder, b budget, system string, row []*result, columns []figure, second bool) {
	fmt.Fprintf(w, "| `%s` | %d |", system, len(row))
	for _, f := range columns {
		fmt.Fprintf(w, " %s |", of(row, f.name))
	}
	if second {
		rate := fmt.Sprint(row[0].Rate)
		if g, _, err := b.of(system); err == nil && g.edge(row[0].Rate) {
			rate += " (edge)"
		}
		fmt.Fprintf(w, " %s | %s | %s |", rate, over(row, func(r *result) float64 { return 1000 * r.Step }).Format(1),
			over(row, func(r *result) float64 { return r.Training + r.Evaluation }).Format(0))
	}
	fmt.Fprintln(w)
}
