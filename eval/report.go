package eval

import "fmt"

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
	Protocol Protocol
	Encoder  string
	Label    string // what a row is: "pair", "set"
	Columns  []Column
	Rows     []Row
	// Means are rows computed from other rows: the average over the pairs, or a year of sts. There are none for a
	// single pair.
	Means []Row
	// Notes are what a reader must know before comparing the figures with others.
	Notes []string
	// Curves are the precision-recall curves of protocols with a threshold, one for each row.
	Curves []NamedCurve
}

// NamedCurve is the precision-recall curve of a pair.
type NamedCurve struct {
	Name      string
	Threshold float64
	Points    []Point
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// average adds the mean of every percentage over the rows if there is more than one row.
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
