// Package report holds what an evaluation found, as rows of figures, and prints it: as a table, JSON, TSV or Markdown.
package report

import (
	"fmt"
)

// Kind is the type of a column's values. It decides how they are printed.
type Kind int

// Percentages have two decimals in tables, thresholds six. Machine-readable formats have all digits.
const (
	Percentage Kind = iota
	Threshold
	Count
	Text
)

// Column is one figure of a report. It has the same name in every format.
type Column struct {
	Name string
	Kind Kind
}

// Row is one language pair or one test set. It has a cell for each column: float64, int, string, or nil if the figure
// does not apply.
type Row struct {
	Name  string
	Cells []any
}

// Report is a protocol's result over one or more language pairs or sets.
type Report struct {
	Protocol   string    // its name
	Definition [2]string // definition of the protocol's measure
	Encoder    string
	Label      string // unit of a row: "pair", "set"
	Columns    []Column
	Rows       []Row
	// Means are rows computed from other rows: the average over the pairs, or a year of sts. There are none for a
	// single pair.
	Means []Row
	// Notes lists what a reader must know before comparing the figures with others.
	Notes []string
	// Curves are the precision-recall curves of protocols with a threshold, one for each row.
	Curves []Curve
	Pairs  []Pair `json:"-"` // if they were wanted
}

// Curve is the precision-recall curve of a pair.
type Curve struct {
	Name   string
	Points []CurvePoint
}

// Note adds a note.
func (r *Report) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// Average adds the mean of every percentage over the rows if there is more than one row.
func (r *Report) Average() {
	if len(r.Rows) > 1 {
		r.Means = append(r.Means, r.Mean("average", r.Rows))
	}
}

// Mean is a row of the means of percentages and the sums of counts over rows with the report's columns.
func (r *Report) Mean(name string, rows []Row) Row {
	mean := Row{Name: name, Cells: make([]any, len(r.Columns))}
	for c, column := range r.Columns {
		switch column.Kind {
		case Percentage:
			mean.Cells[c] = meanOf(rows, c)
		case Count:
			mean.Cells[c] = sumOf(rows, c)
		}
	}
	return mean
}

func meanOf(rows []Row, column int) any {
	sum, n := 0.0, 0
	for _, row := range rows {
		if v, ok := row.Cells[column].(float64); ok {
			sum += v
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return sum / float64(n)
}

func sumOf(rows []Row, column int) any {
	sum := 0
	for _, row := range rows {
		if v, ok := row.Cells[column].(int); ok {
			sum += v
		}
	}
	return sum
}
