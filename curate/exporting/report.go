package exporting

import (
	"fmt"
	"io"
	"strings"

	"bitextmine/bitext/exchange"
	"bitextmine/curate/filtering"
)

// Report counts the exported pairs.
type Report struct {
	Read, Written uint64
	Sets          []SetReport
	SplitBy       string // the column that the sets were divided by
	PassedOver    string // a column of documents that they were not divided by, as all its names differ; empty: none
	Repeated      uint64 // rows left out, as their pair of texts was written
	Addresses     int    // distinct ones that were written
	Lacking       uint64 // rows and units left out, as they have no text on one side
	Bad           uint64 // lines left out, as they cannot be read
	Unnamed       int    // columns of a file that names none, the first two of which were taken for the texts
}

// SetReport is one set of a report.
type SetReport struct {
	Name  string
	Pairs uint64
	Files []string
}

// Warnings name what may have been read or chosen otherwise than was meant: columns that nothing names, no pair at all,
// names of documents that do not decide yet, and sets without pairs, which the column that the pairs are divided by may
// be to blame for.
func (r *Report) Warnings() (warnings []string) {
	if r.Unnamed > 0 {
		warnings = append(warnings, exchange.UnnamedWarning(r.Unnamed))
	}
	if r.Written == 0 {
		warnings = append(warnings, "no pair was exported: see which columns are the texts (--src-column, --tgt-column), and what --where, --min-score and the column keep leave out")
	}
	if len(r.Sets) > 1 && r.PassedOver != "" {
		warnings = append(warnings, fmt.Sprintf("the sets are divided by %s, as all names in %s differ in the first rows: give --split-by %s, or sets change once names repeat",
			r.SplitBy, r.PassedOver, r.PassedOver))
	}
	for _, s := range r.Sets {
		if r.Written > 0 && s.Pairs == 0 {
			warnings = append(warnings, fmt.Sprintf("the set %s has no pair, as the column %s has too few values for its share: "+
				"name another with --split-by, or give a larger share", s.Name, r.SplitBy))
		}
	}
	return warnings
}

// Summary writes the counts.
func (r *Report) Summary(w io.Writer) {
	fmt.Fprintf(w, "%d of %d pairs exported", r.Written, r.Read)
	if len(r.Sets) > 1 {
		fmt.Fprintf(w, ", divided by %s", r.SplitBy)
	}
	if r.Addresses > 0 {
		fmt.Fprintf(w, ", with %d addresses; %d rows repeated a pair", r.Addresses, r.Repeated)
	}
	filtering.TellLeftOut(w, r.Lacking, r.Bad)
	fmt.Fprintln(w)
	for _, s := range r.Sets {
		if len(r.Sets) == 1 { // its pairs are all that were exported
			fmt.Fprintf(w, "  %s\n", strings.Join(s.Files, " "))
			continue
		}
		fmt.Fprintf(w, "  %-10s %9d  %s\n", s.Name, s.Pairs, strings.Join(s.Files, " "))
	}
}
