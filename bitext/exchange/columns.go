package exchange

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"bitextmine/corpus"
	"bitextmine/internal/badinput"
)

// headers are the names of the columns of texts, source and target, by which a first line is known for a header:
// bitext's own, Bitextor's, and those of data sets of the Hugging Face hub.
var headers = [][2]string{{"src_text", "tgt_text"}, {"src_text", "trg_text"}, {"source", "target"}}

// TextColumns finds the texts in a first line that names the columns, as bitext or other programs name them.
func TextColumns(columns []string) (source, target int, ok bool) {
	for _, names := range headers {
		if source, target = last(columns, names[0]), last(columns, names[1]); source >= 0 && target >= 0 {
			return source, target, true
		}
	}
	return 0, 0, false
}

// named finds the texts by the options, or in a header, and reports whether the first line is one.
func (o Options) named(columns []string) (source, target int, header, ok bool) {
	source, target = last(columns, o.SourceColumn), last(columns, o.TargetColumn)
	if header = source >= 0 && target >= 0; !header && !o.MustName {
		source, target, header = TextColumns(columns)
	}
	if o.SourceAt > 0 {
		return o.SourceAt - 1, o.TargetAt - 1, header, true
	}
	return source, target, header, header
}

// UnnamedWarning is the warning of a file with further columns that nothing names.
func UnnamedWarning(columns int) string {
	return fmt.Sprintf("no line names the %d columns: the first two are taken for the texts; give the numbers of others, such as --src-column 2 --tgt-column 3", columns)
}

// unnamed is the number of columns of a TSV of which some are no texts and nothing names any, once the first record is
// read: then the first two were taken. Otherwise it is 0.
func unnamed(r Reader) int {
	if t, ok := r.(*tsvReader); ok && t.guessed {
		return t.row.width
	}
	return 0
}

// WarnUnnamed logs the warning of a file that was read, followed by advice, if it is to be warned of.
func WarnUnnamed(r Reader, name, advice string) {
	if n := unnamed(r); n > 0 {
		slog.Warn(name + ": " + UnnamedWarning(n) + advice)
	}
}

// firstLines is how many lines say what the columns of a TSV hold that nothing names.
const firstLines = 20

// guess checks the columns that are taken for texts, where nothing names them and there are more, by the first lines.
// Those that it reads are Next's.
func (r *tsvReader) guess(first corpus.Line) error {
	lines := []corpus.Line{first}
	for len(lines) < firstLines {
		line, err := r.lines.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		lines = append(lines, line)
	}
	r.ahead = lines[1:]
	kinds := make([]string, r.row.width)
	for i := range kinds {
		kinds[i] = contentOf(lines, i, r.row.width)
	}
	if at := slices.IndexFunc(kinds[:2], func(kind string) bool { return kind != "" }); at >= 0 {
		return noText(r.name, at+1, kinds)
	}
	r.guessed = true
	return nil
}

// noText is the error of a column, from 1, that is taken for a text and is not. kinds says what all columns hold; of
// texts it is empty.
func noText(name string, column int, kinds []string) error {
	source := slices.Index(kinds, "")
	target := source + 1 + slices.Index(kinds[source+1:], "")
	if source < 0 || target <= source {
		return badinput.Errorf("%s: column %d has %s and no text, and fewer than two columns have texts: give a file of pairs of texts", name, column,
			kinds[column-1])
	}
	columns := fmt.Sprintf("--src-column %d --tgt-column %d", source+1, target+1)
	return badinput.Errorf("%s: column %d has %s and no text: number the columns of the texts, such as %s, which mine score, align, filter and export "+
		"take; where there is no such flag, write them first: mine export %s %s --out pairs.tsv", name, column, kinds[column-1], columns, name, columns)
}

// contentOf says what nearly all lines have in a column, if it is no text.
func contentOf(lines []corpus.Line, column, width int) string {
	rows, numbers, addresses := 0, 0, 0
	for _, line := range lines {
		fields := strings.Split(line.Text, "\t")
		if len(fields) != width {
			continue
		}
		rows++
		field := strings.TrimSpace(fields[column])
		if _, err := strconv.ParseFloat(field, 64); err == nil {
			numbers++
		}
		if scheme, _, found := strings.Cut(field, "://"); found && !strings.ContainsAny(scheme, " \t") {
			addresses++
		}
	}
	switch nearly := max(1, (rows*9+9)/10); {
	case numbers >= nearly:
		return "numbers"
	case addresses >= nearly:
		return "addresses"
	}
	return ""
}
