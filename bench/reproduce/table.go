package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// summary is the mean and spread of a row's seeds.
type summary struct {
	mean, spread float64 // spread is the sample standard deviation, 0 for one seed
	n            int
}

func summarise(values []float64) summary {
	s := summary{n: len(values)}
	for _, x := range values {
		s.mean += x / float64(s.n)
	}
	if s.n > 1 {
		for _, x := range values {
			s.spread += (x - s.mean) * (x - s.mean) / float64(s.n-1)
		}
		s.spread = math.Sqrt(s.spread)
	}
	return s
}

func (s summary) String() string { return s.format(2) }

func (s summary) format(decimals int) string {
	switch s.n {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%.*f", decimals, s.mean)
	}
	return fmt.Sprintf("%.*f ± %.*f", decimals, s.mean, decimals, s.spread)
}

// of summarises one number of a row's seeds.
func of(row []*result, number func(*result) float64) summary {
	var values []float64
	for _, r := range row {
		values = append(values, number(r))
	}
	return summarise(values)
}

func byName(name string) func(*result) float64 {
	return func(r *result) float64 { return r.Figures[name] }
}

// report returns the tables of a budget and its claims as Markdown.
func report(b budget, rows map[string][]*result) string {
	var w strings.Builder
	for _, g := range b.Groups {
		describe(&w, g, rows)
	}
	table(&w, b, rows, false)
	table(&w, b, rows, true)
	checkClaims(&w, b, rows)
	return w.String()
}

// describe writes a sentence with what a group's rows have in common.
func describe(w *strings.Builder, g group, rows map[string][]*result) {
	var first *result // any: they share it
	teacher := ""
	for _, system := range g.Systems {
		if row := rows[system]; len(row) > 0 {
			first, teacher = row[0], cmp.Or(teacher, row[0].Teacher)
		}
	}
	if first == nil {
		return
	}
	fmt.Fprintf(w, "%s: %d pairs (%d lines of each file at most), %d steps of %d pairs, %d dimensions, %d words",
		g.Name, first.Pairs, g.Lines, first.Steps, first.Batch, first.Dim, first.Words)
	if g.Start != "" {
		fmt.Fprintf(w, "; each starts from `%s` of its seed", g.Start)
	}
	if teacher != "" {
		fmt.Fprintf(w, "; the teacher is %s", teacher)
	}
	fmt.Fprint(w, ".\n\n")
}

// table has a line for each system and a column for each figure of the first or second table. The second also has the
// times.
func table(w *strings.Builder, b budget, rows map[string][]*result, second bool) {
	columns := slices.DeleteFunc(slices.Clone(figures), func(f figure) bool { return f.second != second })
	fmt.Fprint(w, "| system | seeds |")
	for _, f := range columns {
		fmt.Fprintf(w, " %s |", f.name)
	}
	width := 2 + len(columns)
	if second {
		fmt.Fprint(w, " processor ms a step | s a row |")
		width += 2
	}
	fmt.Fprintf(w, "\n|%s\n", strings.Repeat(" --- |", width))
	for _, g := range b.Groups {
		if g.Start != "" {
			line(w, "start (`"+g.Start+"`)", rows[g.Start], columns, second)
		}
		for _, system := range g.Systems {
			line(w, "`"+system+"`", rows[system], columns, second)
		}
	}
	fmt.Fprintln(w)
}

func line(w *strings.Builder, label string, row []*result, columns []figure, times bool) {
	fmt.Fprintf(w, "| %s | %d |", label, len(row))
	for _, f := range columns {
		fmt.Fprintf(w, " %s |", of(row, byName(f.name)))
	}
	if times {
		fmt.Fprintf(w, " %s | %s |", of(row, func(r *result) float64 { return 1000 * r.Step }).format(1),
			of(row, func(r *result) float64 { return r.Training + r.Evaluation }).format(0))
	}
	fmt.Fprintln(w)
}
