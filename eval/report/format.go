package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"

	"bitextmine/internal/badinput"
)

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
func (r *Report) Write(w io.Writer, format Format) error {
	var err error
	switch format {
	case JSON:
		err = r.writeJSON(w)
	case TSV:
		_, err = io.WriteString(w, r.tsv())
	case Markdown:
		_, err = io.WriteString(w, r.markdown())
	default:
		err = r.writeTable(w)
	}
	if err != nil {
		return fmt.Errorf("write the %s report: %w", r.Protocol, err)
	}
	return nil
}

func (r *Report) writeTable(w io.Writer) error {
	fmt.Fprintf(w, "%s   encoder %s\n%s\n%s\n\n", r.Protocol, r.Encoder, r.Definition[0], r.Definition[1])
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(table, strings.Join(r.header(), "\t"), "\t\n")
	for _, row := range r.allRows() {
		fmt.Fprint(table, strings.Join(r.shown(row), "\t"), "\t\n")
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
	line(r.header())
	rule := make([]string, len(r.Columns)+1)
	rule[0] = "---"
	for i, c := range r.Columns {
		rule[i+1] = "---:"
		if c.Kind == Text {
			rule[i+1] = "---"
		}
	}
	line(rule)
	for _, row := range r.allRows() {
		line(r.shown(row))
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "\nNote: %s\n", note)
	}
	return b.String() + "\n"
}

// tsv writes all digits, for programs. The protocol is a column, so several reports may be in one file.
func (r *Report) tsv() string {
	var b strings.Builder
	fmt.Fprintf(&b, "protocol\t%s\n", strings.Join(r.header(), "\t"))
	for _, row := range r.allRows() {
		fmt.Fprintf(&b, "%s\t%s", r.Protocol, row.Name)
		for _, cell := range row.Cells {
			b.WriteByte('\t')
			if cell != nil {
				fmt.Fprint(&b, cell)
			}
		}
		b.WriteByte('\n')
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
