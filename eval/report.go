package eval

import "fmt"

// Kind is what a column holds; it decides how it is printed.
type Kind int

// Percentages have two decimals in tables, thresholds six; machine-readable formats keep every digit.
const (
	Percentage Kind = iota
	Threshold
	Count
	Text
)

// Column is one figure of a report. Name is its name in every format.
type Column struct {
	Name string
	Kind Kind
}

// Row is one language pair, or one test set, with a cell for each column: float64, int, string, or nil where the figure does not apply.
type Row struct {
	Name  string
	Cells []any
}

// Report is a protocol's result over one or more language pairs or sets.
type Report struct {
	Protocol Protocol
	Encoder  string
	Label    string // what a row is: "pair", "set"
	Columns  []Column
	Rows     []Row
	// Means are rows made of others: the average over the pairs, a year of sts. Empty for one pair.
	Means []Row
	// Notes say what a reader must know before setting the figures beside others.
	Notes []string
	// Curves are the precision-recall curves of the thresholded protocols, one for each row.
	Curves []NamedCurve
}

// NamedCurve is a pair's precision-recall curve.
type NamedCurve struct {
	Name      string
	Threshold float64
	Points    []Point
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// average adds the mean over rows of every percentage, when there is more than one row.
func (r *Report) average() {
	if len(r.Rows) < 2 {
		return
	}
	mean := Row{Name: "average", Cells: make([]any, len(r.Columns))}
	for c, column := range r.Columns {
		switch column.Kind {
		case Percentage:
			mean.Cells[c] = meanOf(r.Rows, c)
		case Count:
			mean.Cells[c] = sumOf(r.Rows, c)
		}
	}
	r.Means = append(r.Means, mean)
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
