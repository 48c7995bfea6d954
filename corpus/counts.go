package corpus

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Reason is why a line was skipped.
type Reason string

// The reasons.
const (
	ReasonEmpty     Reason = "empty"     // the normalised text is empty
	ReasonTooLong   Reason = "too_long"  // more than Options.MaxLineBytes
	ReasonNotUTF8   Reason = "not_utf8"  // contains a byte that is not UTF-8
	ReasonMalformed Reason = "malformed" // not a record of the file's format
	ReasonNoColumn  Reason = "no_column" // a JSON record without the text column
	ReasonHTML      Reason = "html"      // a record that is to be divided and is HTML
	ReasonDamaged   Reason = "damaged"   // part of a web archive that is cut off or corrupt
	ReasonNearCopy  Reason = "near_copy" // a page that is nearly the same as one before it
	ReasonExcluded  Reason = "excluded"  // a sentence of translations that the user has already
)

// What is left out of the text of documents, in Counts.LeftOut.
const (
	LeftBoilerplate = "boilerplate"    // a line that stood on many pages of the site before
	LeftForeign     = "other_language" // a segment that its document says is in another language
)

// Reasons lists every reason, in the order in which reports print them.
var Reasons = []Reason{ReasonEmpty, ReasonTooLong, ReasonNotUTF8, ReasonMalformed, ReasonNoColumn, ReasonHTML,
	ReasonDamaged, ReasonNearCopy, ReasonExcluded}

// maxExamples is the maximum number of skipped lines that a file's counts list for each reason.
const maxExamples = 20

// Skip is one skipped line.
type Skip struct {
	Line   uint64 `json:"line"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// Counts is the number of lines in a file, by what was done with them: Lines = Kept + Duplicates + all counts in
// Skipped. A TSV header is not a line. In Parquet a line is a row. In a file whose records are divided, Lines are its
// sentences and the records that were skipped.
type Counts struct {
	Lines      uint64            `json:"lines"`
	Kept       uint64            `json:"kept"`
	Duplicates uint64            `json:"duplicates"` // repetitions of a sentence in the same shard
	Skipped    map[Reason]uint64 `json:"skipped,omitempty"`
	Examples   []Skip            `json:"examples,omitempty"` // the first few of each reason, by line
	Records    uint64            `json:"records,omitempty"`  // records divided into sentences, or skipped
	// Tabbed are lines with text on both sides of a tab, in a file that was taken for plain text by its beginning.
	Tabbed uint64 `json:"tabbed,omitempty"`
	// LeftOut are lines of documents' text that were left out before it was divided, by LeftBoilerplate and LeftForeign.
	LeftOut map[string]uint64 `json:"left_out,omitempty"`
}

// Skip counts a skipped line and adds it to the examples unless there are enough.
func (c *Counts) Skip(line uint64, reason Reason, detail string) {
	if c.Skipped == nil {
		c.Skipped = make(map[Reason]uint64)
	}
	c.Skipped[reason]++
	if c.Skipped[reason] <= maxExamples {
		c.Examples = append(c.Examples, Skip{line, reason, detail})
	}
}

// Leave counts lines of a document that are left out.
func (c *Counts) Leave(why string, n int) {
	if n == 0 {
		return
	}
	if c.LeftOut == nil {
		c.LeftOut = map[string]uint64{}
	}
	c.LeftOut[why] += uint64(n)
}

// SkippedTotal is the number of lines skipped for any reason.
func (c Counts) SkippedTotal() uint64 {
	var n uint64
	for _, k := range c.Skipped {
		n += k
	}
	return n
}

// Add adds the counts of another file. Examples are not added, because a line number means nothing without its file.
func (c *Counts) Add(other Counts) {
	c.Lines += other.Lines
	c.Kept += other.Kept
	c.Duplicates += other.Duplicates
	c.Records += other.Records
	c.Tabbed += other.Tabbed
	for why, n := range other.LeftOut {
		c.Leave(why, int(n))
	}
	for reason, n := range other.Skipped {
		if c.Skipped == nil {
			c.Skipped = make(map[Reason]uint64)
		}
		c.Skipped[reason] += n
	}
}

// TabsWarning is one sentence if most lines of a file of such a name, taken for plain text, seem to have columns; else
// empty.
func (c Counts) TabsWarning(name string) string {
	lines := c.Lines
	if c.Records > 0 {
		lines = c.Records
	}
	if 2*c.Tabbed <= lines {
		return ""
	}
	return fmt.Sprintf("%d of %d lines of %s have a tab, and are read as text without columns: say whether they have some with "+
		"--format bucc (id<TAB>sentence), tsv (a header, --text-column) or text", c.Tabbed, lines, name)
}

// Check returns an error if a line was not counted. That is a defect of the program, never of the input.
func (c Counts) Check() error {
	if c.Lines != c.Kept+c.Duplicates+c.SkippedTotal() {
		return fmt.Errorf("lines were lost: %d lines, but %d kept, %d duplicates, %d skipped", c.Lines, c.Kept,
			c.Duplicates, c.SkippedTotal())
	}
	return nil
}

// skippedText lists the skipped lines by reason, as in "3 empty, 1 not_utf8", with what is wrong on the first of them.
func (c Counts) skippedText() string {
	var parts []string
	for _, r := range Reasons {
		if n := c.Skipped[r]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, r))
		}
	}
	for _, skip := range c.Examples {
		if skip.Detail != "" {
			return fmt.Sprintf("%s; line %d: %s", strings.Join(parts, ", "), skip.Line, skip.Detail)
		}
	}
	return strings.Join(parts, ", ")
}

// clone returns a copy that shares no memory with c.
func (c Counts) clone() Counts {
	c.Skipped, c.Examples, c.LeftOut = maps.Clone(c.Skipped), slices.Clone(c.Examples), maps.Clone(c.LeftOut)
	return c
}
