package document

import (
	"fmt"
	"strings"
)

// Counts sum up alignments.
type Counts struct {
	Documents, OneToOne, Other, Deleted, Inserted, Crossings int
}

// Add counts a pair of documents.
func (c *Counts) Add(a *Aligned) {
	c.Documents++
	c.Crossings += len(a.Crossings)
	for _, b := range a.Beads {
		switch {
		case b.Target.Count == 0:
			c.Deleted += b.Source.Count
		case b.Source.Count == 0:
			c.Inserted += b.Target.Count
		case b.Source.Count == 1 && b.Target.Count == 1:
			c.OneToOne++
		default:
			c.Other++
		}
	}
}

// String is a line for people.
func (c Counts) String() string {
	return fmt.Sprintf(
		"%d pairs of documents: %d beads 1:1, %d others; without a counterpart %d source and %d target sentences; %d crossing passages",
		c.Documents, c.OneToOne, c.Other, c.Deleted, c.Inserted, c.Crossings)
}

// CrossingHeader names the columns of ListCrossings.
const CrossingHeader = "src_doc\ttgt_doc\tsrc_line\ttgt_line\tsentences\tscore\n"

// ListCrossings adds a line of TSV for each passage that stands elsewhere in the other document.
func (a *Aligned) ListCrossings(to *strings.Builder) {
	for _, x := range a.Crossings {
		fmt.Fprintf(to, "%s\t%s\t%d\t%d\t%d\t%.4f\n", Escape(a.Source.Name), Escape(a.Target.Name), a.Source.Lines[x.Source.First],
			a.Target.Lines[x.Target.First], x.Source.Count, x.Score)
	}
}
