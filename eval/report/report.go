// Package report holds what an evaluation found, as rows of figures, and prints it: as a table, JSON, TSV or Markdown.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"bitextmine/internal/badinput"
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
	// Items are the data of the row's first figure, of bucc-mteb's recall and of bucc-scored's f1.
	Items Items
}

// Report is a protocol's result over one or more language pairs or sets.
type Report struct {
	Protocol   string    // its name
	Definition [2]string // definition of the protocol's measure
	Encoder    string
	Label      string // unit of a row: "pair", "set"
	Columns    []Column
	Sampled    string // column that the rows' items are of, which gets an interval; empty: none
	Rows       []Row
	// Means are rows computed from other rows: the average over the pairs, or a year of sts. There are none for a
	// single pair.
	Means []Row
	// Notes lists what a reader must know before comparing the figures with others.
	Notes []string
	// Settings are what the report was made with.
	Settings []Setting
	// Curves are the precision-recall curves of protocols with a threshold, one for each row.
	Curves []Curve
	Pairs  []Pair `json:"-"` // if they were wanted
}

// Setting is a setting by its name in JSON.
type Setting struct {
	Name  string
	Value any
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

// Format is the output format of a report.
type Format string

// Formats. In JSON percentages are numbers from 0 to 100 ("unit": "percent").
const (
	Table    Format = "table"
	JSON     Format = "json"
	TSV      Format = "tsv"
	Markdown Format = "markdown"
)

// ParseFormat finds a format by its name.
func ParseFormat(name string) (Format, error) {
	switch f := Format(name); f {
	case Table, JSON, TSV, Markdown:
		return f, nil
	}
	return "", badinput.Errorf("format %q is not known; choose table, json, tsv or markdown", name)
}

// Write writes a report.
func (r *Report) Write(w io.Writer, format Format) error { return Write(w, format, []*Report{r}) }

// Write writes the reports of an evaluation. In JSON several are a list; in TSV they are one table with the columns of
// all, empty where a report has no such figure.
func Write(w io.Writer, format Format, reports []*Report) (err error) {
	switch format {
	case JSON:
		err = writeJSON(w, reports)
	case TSV:
		_, err = io.WriteString(w, tsv(reports))
	default:
		for _, r := range reports {
			if format == Markdown {
				_, err = io.WriteString(w, r.markdown())
			} else {
				err = r.writeTable(w)
			}
			if err != nil {
				break
			}
		}
	}
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

func (r *Report) writeTable(w io.Writer) error {
	fmt.Fprintf(w, "%s   encoder %s\n%s\n%s\n\n", r.Protocol, r.Encoder, r.Definition[0], r.Definition[1])
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, strings.Join(r.withInterval(r.header(), "95%"), "\t"), "\t\n")
	for _, row := range r.allRows() {
		fmt.Fprint(table, strings.Join(r.shownWithInterval(row), "\t"), "\t\n")
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, note := range r.Notes {
		fmt.Fprintln(w, "note:", note)
	}
	_, err := fmt.Fprintln(w)
	return err
}

func (r *Report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**, encoder %s. %s %s\n\n", r.Protocol, r.Encoder, r.Definition[0], r.Definition[1])
	line := func(cells []string) { fmt.Fprintf(&b, "| %s |\n", strings.Join(cells, " | ")) }
	line(r.withInterval(r.header(), "95%"))
	rule := make([]string, len(r.Columns)+1)
	rule[0] = "---"
	for i, c := range r.Columns {
		rule[i+1] = "---:"
		if c.Kind == Text {
			rule[i+1] = "---"
		}
	}
	line(r.withInterval(rule, "---:"))
	for _, row := range r.allRows() {
		line(r.shownWithInterval(row))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\nNote: %s\n", note)
	}
	return b.String() + "\n"
}

// tsv writes all digits, for programs.
func tsv(reports []*Report) string {
	columns := []string{"protocol"}
	for _, r := range reports {
		for _, name := range r.header() {
			if !slices.Contains(columns, name) {
				columns = append(columns, name)
			}
		}
	}
	var b strings.Builder
	fmt.Fprintln(&b, strings.Join(columns, "\t"))
	for _, r := range reports {
		header := append([]string{"protocol"}, r.header()...)
		for _, row := range r.allRows() {
			values := append([]any{r.Protocol, row.Name}, row.Cells...)
			shown := make([]string, len(columns))
			for i, value := range values {
				if value != nil {
					shown[slices.Index(columns, header[i])] = fmt.Sprint(value)
				}
			}
			fmt.Fprintln(&b, strings.Join(shown, "\t"))
		}
	}
	return b.String()
}

func (r *Report) allRows() []Row { return append(r.Rows[:len(r.Rows):len(r.Rows)], r.Means...) }

func (r *Report) header() []string {
	out := []string{r.Label}
	for _, c := range r.Columns {
		out = append(out, c.Name)
	}
	return out
}

func (r *Report) shown(row Row) []string {
	out := []string{row.Name}
	for i, cell := range row.Cells {
		text := ""
		switch v := cell.(type) {
		case float64:
			decimals := 2
			if r.Columns[i].Kind == Threshold {
				decimals = 6
			}
			text = strconv.FormatFloat(v, 'f', decimals, 64)
		case int:
			text = strconv.Itoa(v)
		case string:
			text = v
		}
		out = append(out, text)
	}
	return out
}

func writeJSON(w io.Writer, reports []*Report) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if len(reports) == 1 {
		return e.Encode(reports[0].object())
	}
	all := make([]ordered, 0, len(reports))
	for _, r := range reports {
		all = append(all, r.object())
	}
	return e.Encode(all)
}

// object is a report as JSON: the figures of the only row, or of the average, are members of the object itself, and all
// rows are under "rows".
func (r *Report) object() ordered {
	objects := func(rows []Row) []ordered {
		out := make([]ordered, 0, len(rows))
		for _, row := range rows {
			out = append(out, r.fields(row))
		}
		return out
	}
	object := ordered{{"protocol", r.Protocol}, {"definition", r.Definition}, {"encoder", r.Encoder},
		{"unit", "percent"}}
	if len(r.Settings) > 0 {
		settings := ordered{}
		for _, s := range r.Settings {
			settings = append(settings, field{s.Name, s.Value})
		}
		object = append(object, field{"settings", settings})
	}
	switch {
	case len(r.Means) > 0:
		object = append(object, r.fields(r.Means[len(r.Means)-1])...)
	case len(r.Rows) == 1:
		object = append(object, r.fields(r.Rows[0])...)
	}
	object = append(object, field{"rows", objects(r.Rows)}, field{"means", objects(r.Means)})
	if len(r.Notes) > 0 {
		object = append(object, field{"notes", r.Notes})
	}
	return object
}

// fields returns a row as JSON members: its name, its figures, and its counts under "counts".
func (r *Report) fields(row Row) ordered {
	out, counts := ordered{{r.Label, row.Name}}, ordered{}
	for i, cell := range row.Cells {
		f := field{r.Columns[i].Name, cell}
		if r.Columns[i].Kind == Count {
			counts = append(counts, f)
		} else {
			out = append(out, f)
		}
		if f.name == r.Sampled {
			if low, high, ok := r.interval(row); ok {
				out = append(out, field{f.name + "_interval", [2]float64{low, high}})
			}
		}
	}
	return append(out, field{"counts", counts})
}

type field struct {
	name  string
	value any
}

// ordered is a JSON object that preserves the order of its members.
type ordered []field

func (o ordered) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := e.Encode(f.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := e.Encode(f.value); err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
